"""The command `trainlint`, in a process of its own."""

import atexit
import gc
import os
import sys

if not getattr(sys.flags, "safe_path", False) and sys.path[0] == os.getcwd():
    # `python -m trainlint` would import a `statistics.py` of the project that it checks.
    sys.path[0] = os.path.dirname(sys.executable)

from trainlint.cli.app import app


def main() -> None:
    """A command is over before it pays to look for what could be freed; what stays longer looks by itself."""
    gc.disable()
    atexit.register(gc.freeze)  # or Python looks at the very end
    app(prog_name="trainlint")


if __name__ == "__main__":
    main()
