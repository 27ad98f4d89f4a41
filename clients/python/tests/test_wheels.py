"""Wheels with programs that are none: their heads alone. $MARS_WHEELS is a folder of real ones."""

from __future__ import annotations

import importlib.util
import os
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tomllib")  # Python 3.11

_spec = importlib.util.spec_from_file_location("wheels", Path(__file__).parent.parent / "wheels.py")
assert _spec is not None and _spec.loader is not None
wheels: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wheels)


def elf(machine: int, segment: int = 1) -> bytes:
    head = bytearray(64 + 56)
    head[:4] = b"\x7fELF"
    struct.pack_into("<H", head, 18, machine)
    struct.pack_into("<Q", head, 32, 64)
    struct.pack_into("<HH", head, 54, 56, 1)
    struct.pack_into("<I", head, 64, segment)
    return bytes(head)


PROGRAMS = {
    "linux/amd64": elf(62),
    "linux/arm64": elf(183),
    "darwin/amd64": b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x01000007),
    "darwin/arm64": b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x0100000C),
    "windows/amd64": b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", 0x8664),
    "windows/arm64": b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", 0xAA64),
}

LICENCES = {"LICENSE": b"ours", "THIRD-PARTY-LICENSES": b"others'"}


@pytest.mark.parametrize("platform", PROGRAMS)
def test_the_same_bytes(platform: str, tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
        wheels.check(wheels.write(platform, PROGRAMS[platform], LICENCES, folder, 1_700_000_000), platform)
    (name,) = os.listdir(first)
    assert (first / name).read_bytes() == (second / name).read_bytes()


def test_another_program_is_found_out(tmp_path: Path) -> None:
    for program, message in ((PROGRAMS["linux/arm64"], "is for linux/arm64"), (elf(62, 3), "not static"), (b"#!/bin/sh", "an unknown system")):
        with pytest.raises(AssertionError, match=message):
            wheels.check(wheels.write("linux/amd64", program, LICENCES, tmp_path, 0), "linux/amd64")


def test_damage_is_found_out(tmp_path: Path) -> None:
    wheel = wheels.write("linux/amd64", PROGRAMS["linux/amd64"], LICENCES, tmp_path, 0)
    changed = tmp_path / "changed" / wheel.name
    changed.parent.mkdir()
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(changed, "w") as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry) + (b"#" if entry.filename == "mars/_frames.py" else b""))
    with pytest.raises(AssertionError, match="mars/_frames.py is not what RECORD says"):
        wheels.check(changed, "linux/amd64")
    shutil.copy(wheel, tmp_path / "mars_labels-0-py3-none-win_amd64.whl")
    with pytest.raises(AssertionError, match="its tags are"):
        wheels.check(tmp_path / "mars_labels-0-py3-none-win_amd64.whl", "windows/amd64")


def test_pip_takes_it(tmp_path: Path) -> None:
    wheel = wheels.write("linux/amd64", PROGRAMS["linux/amd64"], LICENCES, tmp_path, 0)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    command += ["--target", str(tmp_path / "site"), "--only-binary=:all:", "--platform", "musllinux_1_2_x86_64", str(wheel)]
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        pytest.skip("no pip")
    subprocess.run(command, check=True)
    assert os.access(tmp_path / "site" / "mars" / "bin" / "mars", os.X_OK)
    meta = (next((tmp_path / "site").glob("*.dist-info")) / "METADATA").read_text()
    assert "\nLicense-File: LICENSE\nLicense-File: THIRD-PARTY-LICENSES\n" in meta
    assert (next((tmp_path / "site").glob("*.dist-info")) / "licenses" / "THIRD-PARTY-LICENSES").read_bytes() == b"others'"
    assert "\nRequires-Dist: pyarrow" in meta and "\n# " in meta


def test_real_wheels() -> None:
    folder = os.environ.get("MARS_WHEELS")
    if not folder:
        pytest.skip("MARS_WHEELS names no folder of wheels")
    found = {p: list(Path(folder).glob(f"*-{tags}.whl")) for p, tags in wheels.PLATFORMS.items()}
    for platform, paths in found.items():
        for path in paths:
            wheels.check(path, platform)
    assert any(found.values())
