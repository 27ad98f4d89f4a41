"""How far the work is, shown to who wants to see it."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Union

# True shows the log's lines as they come and the steps of the work, a function gets
# them, False and None do nothing.
Progress = Union[bool, None, Callable[[str], None]]

_SECONDS = 0.2  # between two steps that are shown


class Display:
    """Shows lines of the log, and on a terminal or in a notebook below them the step that the work is at."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._shown = ""  # in the last line
        self._at = 0.0

    @property
    def wanted(self) -> bool:
        return callable(self._progress) or bool(self._progress)

    def line(self, text: str) -> None:
        """Show a line that stays."""
        self._tell(text, "\n")

    def step(self, what: str, done: int, total: int) -> None:
        """Show a step, unless another was shown just before."""
        last = 0 < total <= done
        if (last or time.monotonic() - self._at >= _SECONDS) and (callable(self._progress) or _redraws()):
            self._at = time.monotonic()
            self._tell(f"{what} {done} of {total}" if total > 0 else f"{what} {done}", "")

    def clear(self) -> None:
        """Take the step away."""
        if self._shown:
            self._tell("", "")

    def _tell(self, text: str, end: str) -> None:
        with self._lock:
            try:
                if callable(self._progress):
                    if text:
                        self._progress(text)
                elif self._progress:
                    back = f"\r{' ' * len(self._shown)}\r" if self._shown else ""
                    print(back + text, end=end, file=sys.stderr, flush=True)
                    self._shown = "" if end else text
            except Exception:  # what is shown is no part of the work, and the log has to be read on
                self._progress = None
                logging.getLogger("mars").exception("progress failed")


def _redraws() -> bool:
    """Whether a line of standard error can be drawn again."""
    return type(sys.stderr).__module__.startswith("ipykernel") or bool(getattr(sys.stderr, "isatty", lambda: False)())


class Steps(threading.Thread):
    """Reads the steps that a child reports: ``epochs 3 20``."""

    def __init__(self, stream: IO[str], display: Display) -> None:
        super().__init__(name="mars-progress", daemon=True)
        self._stream, self._display = stream, display

    def run(self) -> None:
        with self._stream:
            for line in self._stream:
                words = line.split()
                if len(words) == 3 and words[0] != "peak-memory":
                    self._display.step(words[0], int(words[1]), int(words[2]))
