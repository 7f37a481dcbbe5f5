"""Seconds and memory on trees of 1k, 10k, 100k and 1M lines, made of real files.

    python bench/scaling.py TREE --jobs 2

Each folder at the top of TREE is one project; the projects are copied side by side into numbered folders, over
and over, until there are enough lines; imports stay what they are. Each copy ends in a comment of its own, so that
nothing is found to be known already.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import count
from pathlib import Path

import trees
from measured import median, run, trainlint


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    given = parser.parse_args()
    print("| lines | files | wall s | CPU s | CPU s per 10k lines | peak MB |\n|" + "--:|" * 6)
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            written, files = _build(given.tree, Path(folder), size)
            check = trainlint("check", "--no-cache", "-q", "--jobs", str(given.jobs), folder)
            cost = median([run(check) for _ in range(given.rounds)])
        print(
            f"| {written:,} | {files} | {cost.wall:.1f} | {cost.cpu:.1f} "
            f"| {cost.cpu / written * 10_000:.2f} | {cost.peak:.0f} |",
            flush=True,
        )


def _build(tree: Path, into: Path, size: int) -> tuple[int, int]:
    """Fill a folder with projects, the smallest first; the last one is cut where the size is reached."""
    projects = [(project, trees.python_files(project)) for project in tree.iterdir() if project.is_dir()]
    projects = sorted(((one, files) for one, files in projects if files), key=lambda one: len(one[1]))
    written = copied = 0
    for number in count():
        for _, files in projects:
            for file in files:
                if written >= size:
                    return written, copied
                target = into / f"copy{number}" / file.relative_to(tree)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_bytes() + f"\n# copy {number}\n".encode())
                written += trees.lines(file)
                copied += 1
    raise AssertionError


if __name__ == "__main__":
    main()
