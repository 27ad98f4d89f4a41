"""Builds wheels that carry the program, for each system that it runs on.

    make wheels                                    # all, into clients/python/dist
    make wheels WHEELFLAGS='linux/amd64'           # one

The same sources give the same bytes: times are SOURCE_DATE_EPOCH, or the commit's. It needs Go
and Python 3.11, and no other package.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import re
import struct
import subprocess
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

# Wheels' tags by what Go calls a system. The program is static, so that one file does for
# glibc and musl.
PLATFORMS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_2_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_2_aarch64",
    "darwin/amd64": "macosx_11_0_x86_64",
    "darwin/arm64": "macosx_11_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

# Whatever this machine's settings are, as make dist has them.
SETTINGS = {"GOFLAGS": "", "GOEXPERIMENT": "", "GOAMD64": "v1", "GOARM64": "v8.0"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", metavar="OS/ARCH", help=f"systems (default: {' '.join(PLATFORMS)})")
    parser.add_argument("--out", type=Path, default=HERE / "dist", help="folder for the wheels")
    parser.add_argument("--go", default="go", help="the go command")
    parser.add_argument("--ldflags", default="-s -w", help="flags for Go's linker")
    parser.add_argument("--licences", type=Path, help="file with the licences of what the program is linked with")
    arguments = parser.parse_args()
    unknown = [p for p in arguments.platforms if p not in PLATFORMS]
    if unknown:
        parser.error(f"no such system: {', '.join(unknown)}; there are {', '.join(PLATFORMS)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    licences = {"LICENSE": (HERE.parent.parent / "LICENSE").read_bytes()}
    if arguments.licences is not None:
        licences["THIRD-PARTY-LICENSES"] = arguments.licences.read_bytes()
    for platform in arguments.platforms or PLATFORMS:
        wheel = write(platform, build(platform, arguments.go, arguments.ldflags), licences, arguments.out, epoch())
        check(wheel, platform)
        print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)", flush=True)


def build(platform: str, go: str, ldflags: str) -> bytes:
    """The program for a system."""
    system, arch = platform.split("/")
    flags = {"GOFLAGS": "-tags=noasm"} if arch == "arm64" else {}  # see cmd/internal/dist/build.go
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "mars")
        subprocess.run(
            [go, "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", str(program), "./cmd/mars"],
            cwd=HERE.parent.parent,
            env={**os.environ, "GOOS": system, "GOARCH": arch, "CGO_ENABLED": "0", **SETTINGS, **flags},
            check=True,
        )
        return program.read_bytes()


def epoch() -> int:
    """The time that files of a wheel have."""
    named = os.environ.get("SOURCE_DATE_EPOCH")
    if named:
        return int(named)
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=HERE, capture_output=True, text=True)
    return int(commit.stdout) if commit.returncode == 0 else 315532800


def write(platform: str, program: bytes, licences: dict[str, bytes], out: Path, when: int) -> Path:
    """Write a wheel with a program for a system, and its licences."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
    name, version = project["name"].replace("-", "_"), package_version()
    tags = [f"py3-none-{tag}" for tag in PLATFORMS[platform].split(".")]
    info = f"{name}-{version}.dist-info"
    files = {f"mars/{p.relative_to(HERE / 'src' / 'mars').as_posix()}": p.read_bytes() for p in sources()}
    files[program_name(platform)] = program
    files[f"{info}/METADATA"] = metadata(project, version, licences).encode()
    files[f"{info}/WHEEL"] = "".join(
        f"{line}\n" for line in ("Wheel-Version: 1.0", "Generator: mars", "Root-Is-Purelib: false", *(f"Tag: {tag}" for tag in tags))
    ).encode()
    files |= {f"{info}/licenses/{licence}": text for licence, text in licences.items()}
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for path in sorted(files):
        rows.writerow([path, digest(files[path]), len(files[path])])
    rows.writerow([f"{info}/RECORD", "", ""])
    names = [*sorted(files), f"{info}/RECORD"]
    files[f"{info}/RECORD"] = record.getvalue().encode()
    wheel = out / f"{name}-{version}-py3-none-{PLATFORMS[platform]}.whl"
    unfinished = wheel.with_suffix(".new")
    with zipfile.ZipFile(unfinished, "w") as archive:
        for path in names:
            entry = zipfile.ZipInfo(path, time.gmtime(max(when, 315532800))[:6])
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path == program_name(platform) else 0o100644) << 16
            archive.writestr(entry, files[path], compresslevel=9)
    unfinished.replace(wheel)
    return wheel


def sources() -> list[Path]:
    """Files of the package, without a program that lies beside them."""
    folder = HERE / "src" / "mars"
    return [p for p in sorted(folder.rglob("*")) if p.suffix == ".py" or p.name == "py.typed"]


def package_version() -> str:
    found = re.search(r'^__version__ = "(.+)"$', (HERE / "src" / "mars" / "__init__.py").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return str(found[1])


def program_name(platform: str) -> str:
    return "mars/bin/mars.exe" if platform.startswith("windows/") else "mars/bin/mars"


def metadata(project: dict[str, Any], version: str, licences: Iterable[str]) -> str:
    """What pyproject.toml says, as wheels have it."""
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}"]
    lines += [f"License-Expression: {project['license']}", *(f"License-File: {licence}" for licence in licences)]
    lines += [f"Classifier: {c}" for c in project["classifiers"]]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {d}" for d in project["dependencies"]]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {d}; extra == "{extra}"' for d in needs)]
    lines += ["Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n" + Path(HERE, project["readme"]).read_text("utf-8")


def digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def check(wheel: Path, platform: str) -> None:
    """Fail unless a wheel is whole and its program one for the system."""
    with zipfile.ZipFile(wheel) as archive:
        broken = archive.testzip()
        assert broken is None, f"{wheel}: {broken} is damaged"
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    (info,) = {path.split("/")[0] for path in files if ".dist-info/" in path}
    record = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[f"{info}/RECORD"].decode()))}
    assert set(record) == set(files), f"{wheel}: RECORD names other files: {sorted(set(record) ^ set(files))}"
    for path, (hash_, size) in record.items():
        if path != f"{info}/RECORD":
            assert (hash_, int(size)) == (digest(files[path]), len(files[path])), f"{wheel}: {path} is not what RECORD says"
    tags = re.findall(r"^Tag: py3-none-(.+)$", files[f"{info}/WHEEL"].decode(), re.MULTILINE)
    assert ".".join(tags) == PLATFORMS[platform] and wheel.stem.endswith("-py3-none-" + ".".join(tags)), f"{wheel}: its tags are {tags}"
    program = program_name(platform)
    assert modes[program] & 0o111, f"{wheel}: {program} cannot be executed"
    assert kind(files[program]) == platform, f"{wheel}: {program} is for {kind(files[program])}"


def kind(program: bytes) -> str:
    """The system that a program is for, by its first bytes."""
    if program[:4] == b"\x7fELF":
        machine = {62: "amd64", 183: "arm64"}.get(struct.unpack_from("<H", program, 18)[0], "?")
        start, size, count = struct.unpack_from("<Q", program, 32)[0], *struct.unpack_from("<HH", program, 54)
        segments = [struct.unpack_from("<I", program, start + i * size)[0] for i in range(count)]
        return f"linux/{machine}" if 3 not in segments else f"linux/{machine} with an interpreter: not static"
    if program[:4] == b"\xcf\xfa\xed\xfe":
        return "darwin/" + {0x01000007: "amd64", 0x0100000C: "arm64"}.get(struct.unpack_from("<I", program, 4)[0], "?")
    if program[:2] == b"MZ":
        at = struct.unpack_from("<I", program, 60)[0]
        if program[at : at + 4] == b"PE\0\0":
            return "windows/" + {0x8664: "amd64", 0xAA64: "arm64"}.get(struct.unpack_from("<H", program, at + 4)[0], "?")
    return "an unknown system"


if __name__ == "__main__":
    main()
