"""One file in a new process, against nothing but the import of libcst.

python bench/single_file.py FILE --rounds 15
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import trees
from measured import in_turn, table, trainlint


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    costs = in_turn(
        {
            "import libcst": [sys.executable, "-c", "import libcst"],
            "trainlint, one file": trainlint("check", "--no-cache", "-q", str(given.file)),
        },
        given.rounds,
        warm_up=True,
    )
    print(f"{trees.lines(given.file)} lines, medians of {given.rounds}\n\n{table(costs, 'import libcst')}")


if __name__ == "__main__":
    main()
