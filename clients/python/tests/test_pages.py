"""The README and the notebook do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mars

HERE = Path(__file__).parent.parent


def bare(line: str) -> str:
    """A line without its numbers and bars, which may differ between processors."""
    return re.sub(r"[\d.–█▉▊▋▌▍▎▏ ]+", " ", line)


def test_readme(tmp_path: Path) -> None:
    text = (HERE / "README.md").read_text("utf-8")
    programs = re.findall(r"```python (\S+)\n(.*?)```", text, re.DOTALL)
    assert [name for name, _ in programs] == ["example.py", "more.py"]
    path = str(Path(mars.__file__).parent.parent)
    said = ""
    for name, program in programs:
        (tmp_path / name).write_text(program, "utf-8")
        ran = subprocess.run(
            [sys.executable, name], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}, capture_output=True
        )
        assert ran.returncode == 0, ran.stderr.decode()
        said += ran.stdout.decode()
    # What the page shows of the output comes, but for the numbers.
    shown = re.search(r"It prints\n\n```text\n(.*?)```", text, re.DOTALL)
    assert shown is not None
    for line in shown[1].splitlines():
        if line != "…":
            assert bare(line) in map(bare, said.splitlines()), (line, said)
    assert "'predicted_class', 'confidence', 'typicality', 'probability_effector'" in said


def test_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("sklearn")
    monkeypatch.setenv("PYTHONPATH", str(Path(mars.__file__).parent.parent))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(HERE / "examples" / "cells.ipynb", 4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    shown = [o["data"] for o in outputs if "data" in o]
    assert any("These proportions can be believed" in d.get("text/html", "") for d in shown)
    assert any("image/png" in d for d in shown)
    said = "".join(o["text"] for o in outputs if o["output_type"] == "stream")
    assert "labelled 550 rows" in said and 'target: has no column "CCR7", which source has' in said
