"""``python -m mars COMMAND`` is the program ``mars COMMAND``."""

import os
import subprocess
import sys

from mars._binary import binary

if sys.platform == "win32":
    sys.exit(subprocess.call([binary(), *sys.argv[1:]]))
os.execv(binary(), ["mars", *sys.argv[1:]])
