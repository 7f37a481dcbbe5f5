"""What checking a program costs as the program grows, for many ways to grow.

    python bench/growth.py --jobs 2
    python bench/growth.py --only squares diamonds --sizes 5 10 20

The work is a count, the calls of Python functions, and no time: it is the same on each machine. Each pattern of
bench/growing writes a training script of any size. The power with which the work grows is that between the last two
sizes, compared with the text; a program that takes more than `--most` calls does not end. Exits with 1 where something
grows faster than its text.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

from growing.growth import exponent, verdict
from growing.measure import Measured, measured
from growing.patterns import PATTERNS

_SIZES = (5, 10, 20, 40, 80)
_MOST = 5_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=PATTERNS, default=sorted(PATTERNS))
    parser.add_argument("--sizes", nargs="+", type=int, default=_SIZES)
    parser.add_argument("--most", type=int, default=_MOST, help="calls that a program may take")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    columns = " | ".join(map(str, given.sizes))
    print(f"| pattern | {columns} | power | verdict |\n|---|{'--:|' * len(given.sizes)}--:|---|")
    bad = []
    with ThreadPoolExecutor(given.jobs) as pool:
        all_found = pool.map(lambda name: measured(name, given.sizes, given.most), given.only)
        for name, found in zip(given.only, all_found, strict=True):
            print(_row(name, found, len(given.sizes)), flush=True)
            if verdict(found) != "linear":
                bad.append(name)
    print(
        f"\n{len(given.only)} patterns, {len(bad)} grow faster than their text: {', '.join(bad) or 'none'}."
    )
    sys.exit(1 if bad else 0)


def _row(name: str, found: list[Measured], sizes: int) -> str:
    works = ["" if one.work is None else f"{one.work:,}" for one in found]
    works += [""] * (sizes - len(works))
    return f"| {name} | {' | '.join(works)} | {exponent(found):.2f} | {verdict(found)} |"


if __name__ == "__main__":
    main()
