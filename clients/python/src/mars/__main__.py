"""``python -m mars COMMAND`` is the program ``mars COMMAND``, which reads AnnData too."""

import os
import subprocess
import sys

from mars._binary import binary
from mars._cells._main import main, wanted

if wanted(sys.argv[1:]):
    sys.exit(main(sys.argv[1:]))
if sys.platform == "win32":
    sys.exit(subprocess.call([binary(), *sys.argv[1:]]))
os.execv(binary(), ["mars", *sys.argv[1:]])
