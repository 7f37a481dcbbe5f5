"""What it costs to ask for help or to press Tab, against a Python that does nothing.

python bench/start_up.py [ROUNDS]
"""

from __future__ import annotations

import os
import sys

from measured import in_turn, table, trainlint

_NOTHING = "python that does nothing"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    commands = {
        _NOTHING: [sys.executable, "-c", ""],
        "import libcst": [sys.executable, "-c", "import libcst"],
        "trainlint --help": trainlint("--help"),
        "trainlint check --help": trainlint("check", "--help"),
        "trainlint config": trainlint("config"),
        "trainlint explain TL30<Tab>": _completing("trainlint explain TL30"),
        "trainlint check --sel<Tab>": _completing("trainlint check --sel"),
    }
    print(table(in_turn(commands, rounds, warm_up=True), _NOTHING))


def _completing(line: str) -> list[str]:
    """The command that bash runs when somebody presses Tab at the end of a line."""
    words = line.split(" ")
    return [
        "env",
        f"COMP_WORDS={os.linesep.join(words)}",
        f"COMP_CWORD={len(words) - 1}",
        "_TRAINLINT_COMPLETE=complete_bash",
        *trainlint(),
    ]


if __name__ == "__main__":
    main()
