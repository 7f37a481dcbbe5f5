"""The command `trainlint`, in a process of its own."""

import atexit
import gc

from trainlint.cli.app import app


def main() -> None:
    """A command is over before it pays to look for what could be freed; what stays longer looks by itself."""
    gc.disable()
    atexit.register(gc.freeze)  # or Python looks at the very end
    app(prog_name="trainlint")


if __name__ == "__main__":
    main()
