"""``python -m mars label|proportions|ask`` of AnnData: the program's own flags, and those for cells."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

from mars import _cells
from mars._process import MarsError, MarsWarning, run
from mars._progress import Progress

_COMMANDS = ("label", "proportions", "ask")


def wanted(arguments: Sequence[str]) -> bool:
    """Whether a command line is about cells."""
    if not arguments or arguments[0] not in _COMMANDS or {"-h", "--help"} & set(arguments):
        return False
    known, _ = _parser(arguments[0]).parse_known_args(arguments[1:])
    return _cells.given(*known.source, *known.target)


def _parser(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"mars {command}", add_help=False, allow_abbrev=False)
    parser.add_argument("--source", action="append", default=[])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--label", default="label")
    parser.add_argument("--batch-column")
    parser.add_argument("--levels")
    parser.add_argument("--method")
    parser.add_argument("-o", "--output")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--posteriors", action="store_true")
    parser.add_argument("--obsm")
    parser.add_argument("--layer")
    parser.add_argument("--no-normalize", dest="normalize", action="store_false", default=None)
    parser.add_argument("--genes", type=int)
    parser.add_argument("--components", type=int)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run a command of cells, and give its exit status."""
    command = arguments[0]
    given, rest = _parser(command).parse_known_args(arguments[1:])

    def told(line: str, warning: str = "") -> None:
        print(f"mars {command}: {warning}{line}", file=sys.stderr, flush=True)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", MarsWarning)
            warnings.showwarning = lambda message, *_: told(str(message), "warning: ")
            return _run(command, given, rest, None if given.quiet else told)
    except MarsError as e:
        if e.message:  # else the program has said why
            told(e.message)
        return max(e.status, 1)
    except (OSError, ValueError, TypeError, ImportError) as e:
        told(str(e))
        return 1
    except KeyboardInterrupt:
        return 130


def _run(command: str, given: argparse.Namespace, rest: list[str], progress: Progress) -> int:
    for role in ("source", "target"):
        if len(getattr(given, role)) != 1:
            raise ValueError(f"--{role}: give one file of cells")
    others = {flag.split("=")[0].lstrip("-").replace("-", "_"): flag for flag in rest if flag.startswith("--")}
    options, _ = _cells.split({name: getattr(given, name) for name in _cells.CELLS} | others | {"method": given.method})
    if given.layer is not None and "," in given.layer:
        options["layer"] = tuple(given.layer.split(",", 1))
    further = {"batch_column": given.batch_column, "levels": given.levels, "method": given.method}
    rest = [*rest, *(f"--{name.replace('_', '-')}={value}" for name, value in further.items() if value is not None)]
    if given.levels is not None and given.label == "label":
        given.label = given.levels.split(",")[-1]
    columns = _cells.beside(given.label, further)
    source, target = given.source[0], given.target[0]
    shown = {"source": source, "target": target}
    if given.quiet:
        rest = [*rest, "--quiet"]
    work = _cells.work()
    if command == "label" and given.output is not None and given.output.endswith(".h5ad"):
        work.label(
            source, target, given.label, rest, options, columns,
            posteriors=given.posteriors, prefix=given.prefix, output=given.output, progress=progress, shown=shown,
        )  # fmt: skip
        return 0
    if given.prefix or given.posteriors:
        raise ValueError("--prefix and --posteriors: are for AnnData that mars label writes, as in -o labelled.h5ad")
    if given.output is not None:
        rest = [*rest, f"--output={given.output}"]
    with work.inputs(source, target, given.label, options, columns, progress, named=True) as (read, _):
        run([command, f"--label={given.label}", *rest], read.tables, shown=shown)
    return 0
