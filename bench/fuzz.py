"""Check many programs alone, each in a process of its own, and say what does not end well.

    python bench/fuzz.py --damaged 2000 [--seed 1]
    python bench/fuzz.py --folders /path/to/site-packages/transformers [--most 5000] [--alone]
    python bench/fuzz.py ... --log FILE --write NAME

With `--alone`, a file of a package is checked without the files that it imports. `--log` keeps how each program ended in
a file, and a later run leaves out what stands there.

Damaged programs are drawn from rules/, fixtures/ and bench/programs. A program ends well if nothing is raised, nothing is
called a bug of trainlint, and it is over within `--seconds`. Times are of the processor. `--write` puts the row into
docs/robustness.md under a name. Exits with 1 where something did not end well.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import signal
import statistics
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from damaging import DAMAGES

from trainlint.check.analysis import Source, analyse

HERE = Path(__file__).parent.parent
DOCUMENT = HERE / "docs/robustness.md"


class Ended(NamedTuple):
    """How the check of one program went; `wrong` is empty if it ended well."""

    name: str
    lines: int
    seconds: float
    wrong: str


def damaged(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    whole = [
        path.read_bytes() for path in sorted(HERE.glob("rules/*/*.py")) if path.name[:3] in ("bad", "goo")
    ]
    whole += [path.read_bytes() for path in sorted((HERE / "bench/programs").rglob("*.py"))]
    for page in sorted((HERE / "fixtures/scenarios").glob("*.md")):
        whole += [code.encode() for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        kind = draw.choice(sorted(DAMAGES))
        data = draw.choice(whole)
        for _ in range(draw.randint(1, 2)):
            data = DAMAGES[kind](data, draw, whole)
        yield f"{kind}-{seed}-{number}", data


def in_folders(folders: Iterable[Path], most: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Files that are not the same as one before."""
    files = sorted(path for folder in folders for path in folder.rglob("*.py") if path.is_file())
    random.Random(seed).shuffle(files)
    seen = set()
    for path in files:
        data = path.read_bytes()
        digest = hashlib.sha256(data).digest()
        if digest not in seen and len(seen) < most:
            seen.add(digest)
            yield str(path), data


def checked(name: str, data: bytes, seconds: int, alone: bool = False) -> Ended:
    """Checks one program in a process that is ended after so many seconds of the processor."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        os.write(writing, _said(name, data, alone).encode(errors="replace")[:4_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status, usage = os.wait4(child, 0)
    if os.WIFSIGNALED(status):
        ended_by = signal.Signals(os.WTERMSIG(status)).name
        said = f"not done in {seconds} s" if ended_by == "SIGPROF" else f"ended by {ended_by}"
    return Ended(name, data.count(b"\n") + 1, usage.ru_utime + usage.ru_stime, said)


def _said(name: str, data: bytes, alone: bool) -> str:
    path = name if name.endswith(".py") and not alone else "program.py"
    try:
        analysis = analyse([Source(path, data)], jobs=1)
    except BaseException:
        return traceback.format_exc()
    return "; ".join(one.message for one in analysis.problems if "bug in trainlint" in one.message)


def row(title: str, ended: list[Ended]) -> str:
    """One row of the table: costs are per thousand lines, of programs of at least fifty."""
    costs = sorted(one.seconds / one.lines * 1000 for one in ended if one.lines >= 50) or [0.0]
    median, last = statistics.median(costs), costs[int(len(costs) * 0.99)]
    wrong = sum(bool(one.wrong) for one in ended)
    cells = (title, f"{len(ended):,}", f"{sum(one.lines for one in ended):,}", str(wrong))
    return f"| {' | '.join(cells)} | {median:.2f} | {last:.2f} | {costs[-1] / (median or 1):.0f} |"


def _logged(log: Path | None) -> list[Ended]:
    if log is None or not log.exists():
        return []
    return [Ended(*json.loads(line)) for line in log.read_text().splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--damaged", type=int, default=0)
    parser.add_argument("--folders", type=Path, nargs="*", default=[])
    parser.add_argument("--most", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", type=Path, help="folder for the programs that did not end well")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--write", metavar="NAME")
    given = parser.parse_args()
    analyse([Source("warm.py", b"import torch\nloss.backward()\n")], jobs=1)
    ended = _logged(given.log)
    known = {one.name for one in ended}
    began = time.monotonic()
    programs = (*damaged(given.damaged, given.seed), *in_folders(given.folders, given.most, given.seed))
    for name, data in programs:
        if name in known:
            continue
        ended.append(one := checked(name, data, given.seconds, given.alone))
        if given.log is not None:
            with given.log.open("a") as log:
                log.write(json.dumps(one) + "\n")
        if one.wrong:
            print(f"{one.name}: {one.wrong.strip().splitlines()[-1]}", flush=True)
            if given.keep is not None:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{Path(name).stem}.py").write_bytes(data)
    print(f"{time.monotonic() - began:.0f} s; the slowest:")
    for one in sorted(ended, key=lambda one: -one.seconds)[:5]:
        print(f"  {one.seconds:6.1f} s  {one.lines:6} lines  {one.name}")
    text = row(given.write or "these", ended)
    print(text)
    if given.write:
        kept = [
            line
            for line in DOCUMENT.read_text().splitlines(True)
            if not line.startswith(f"| {given.write} |")
        ]
        DOCUMENT.write_text("".join(kept).rstrip("\n") + f"\n{text}\n")
    sys.exit(1 if any(one.wrong for one in ended) else 0)


if __name__ == "__main__":
    main()
