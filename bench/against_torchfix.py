"""A cold `trainlint check`, TorchFix and the parsers alone, in turn, on the same files.

python bench/against_torchfix.py TREE --torchfix /path/to/torchfix --jobs 2 --rounds 3
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import trees
from measured import in_turn, table, trainlint

_FLOOR = Path(__file__).with_name("floor.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--torchfix", default="torchfix", help="its executable")
    parser.add_argument("--jobs", type=int, default=2, help="processes for both linters; the floor has one")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = trees.copy(given.tree, Path(folder, "tree"))  # nothing but Python, nothing ignored
        listed = Path(folder, "files")
        listed.write_text("".join(f"{file}\n" for file in files))
        jobs, tree = str(given.jobs), str(Path(folder, "tree"))
        costs = in_turn(
            {
                "trainlint": trainlint("check", "--no-cache", "-q", "--jobs", jobs, tree),
                "TorchFix": [given.torchfix, "--jobs", jobs, "--select", "ALL", tree],
                "floor": [sys.executable, str(_FLOOR), str(listed)],
            },
            given.rounds,
        )
        print(f"{len(files)} files, {sum(map(trees.lines, files)):,} lines, {jobs} processes, ", end="")
    print(f"medians of {given.rounds}\n\n{table(costs, 'trainlint')}")


if __name__ == "__main__":
    main()
