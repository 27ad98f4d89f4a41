"""Where the program is."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_NAME = "mars.exe" if sys.platform == "win32" else "mars"


def binary() -> str:
    """Find the program ``mars``.

    Returns
    -------
    str
        The path in the environment variable ``MARS_BINARY`` if it is set, else the
        program that came with this package, else the one on the PATH.

    Raises
    ------
    FileNotFoundError
        If there is none.

    Examples
    --------
    >>> import mars, os
    >>> os.access(mars.binary(), os.X_OK)
    True
    """
    named = os.environ.get("MARS_BINARY")
    if named:
        found = shutil.which(named)
        if found is None:
            raise FileNotFoundError(f"MARS_BINARY={named}: there is no such program")
        return found
    packed = Path(__file__).parent / "bin" / _NAME
    if packed.is_file():
        return str(packed)
    on_path = shutil.which("mars")
    if on_path is None:
        raise FileNotFoundError(
            "the program mars is not installed: install a wheel for this platform, which brings it, "
            "or put mars on your PATH, or name it in the environment variable MARS_BINARY"
        )
    return on_path
