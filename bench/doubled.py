"""Hunts programs that a check does not end on: every scenario, with a name that is made of itself over and over.

    python bench/doubled.py [--times 30] [--only masks] [--share 0.2] [--seconds 20]

After an assignment `x = ...` stand thirty lines such as `x = x * x`: whoever goes through what `x` is made of without a
memory goes through it 2^30 times. What is said of such a program does not matter here.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from trainlint.check.analysis import Source, analyse

_ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^# file: (\S+)\n", re.MULTILINE)

_WAYS = (
    "{x} = {x} * {x}",
    "{x} = {x} + {x}",
    "{x} = {x} / 2 if len(__name__) > {i} else {x} * 3",
    "{x} = torch.where({x} > 0, {x}, {x})",
    "{x} = [{x}, {x}]",
    "{x} = ({x}, {x})[len(__name__) % 2]",
    "{x} = {x}.reshape({x}.shape[0], {x}.shape[-1])",
    "{x} = {x} & ~{x}",
    "{x} = torch.cat([{x}, {x}], dim=-1)",
    "{x} = {{'a': {x}, 'b': {x}}}",
    "{x} = {x}.transpose(1, 2) @ {x}",
    "{x} = {x}({x})",
    "{x} = {x} or {x}.copy()",
    "{x} = {x}[:len({x}) // 2]",
    "{x} = {x}.masked_fill({x} == 0, -1e9)",
)


class TooLong(BaseException):
    """The check did not end."""


def main() -> int:
    """Prints each program that takes too long, with where it was lost."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--times", type=int, default=30)
    asked.add_argument("--only", default="")
    asked.add_argument("--share", type=float, default=0.2)
    asked.add_argument("--seconds", type=float, default=20)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    draw = random.Random(given.seed)
    signal.signal(signal.SIGPROF, _stop)
    tried = lost = 0
    for page, number, text in _programs(given.only):
        for line, way, changed in _changed(text, given.times, draw, given.share):
            tried += 1
            began = time.process_time()
            where = _where_lost(changed, given.seconds)
            if where:
                lost += 1
                print(
                    f"{page} block {number} line {line}: `{way}`: {time.process_time() - began:.0f} s\n{where}",
                    flush=True,
                )
    print(f"{tried} programs, {lost} of them without an end")
    return 1 if lost else 0


def _stop(*_: object) -> None:
    raise TooLong


def _programs(only: str) -> Iterator[tuple[str, int, str]]:
    for path in sorted((_ROOT / "fixtures" / "scenarios").glob("*.md")):
        if only in path.name:
            for number, block in enumerate(_BLOCK.findall(path.read_text())):
                yield path.name, number, block


def _changed(text: str, times: int, draw: random.Random, share: float) -> Iterator[tuple[int, str, str]]:
    lines = text.splitlines()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for one in ast.walk(tree):
        match one:
            case ast.Assign(
                targets=[ast.Name() | ast.Attribute() as target], lineno=first, end_lineno=int(last)
            ):
                name = ast.unparse(target)
            case _:
                continue
        if draw.random() > share or lines[first - 1][: one.col_offset].strip() or ";" in lines[last - 1]:
            continue
        way = draw.choice(_WAYS)
        before = " " * one.col_offset
        more = [before + way.format(x=name, i=i) for i in range(times)]
        yield last, way.format(x=name, i=0), "\n".join([*lines[:last], *more, *lines[last:]]) + "\n"


def _where_lost(text: str, seconds: float) -> str:
    parts = _FILE.split(text)
    files = {"train.py": parts[0]} if parts[0].strip() else {}
    files |= dict(zip(parts[1::2], parts[2::2], strict=True))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        analyse([Source(path, inside.encode()) for path, inside in files.items()])
    except TooLong as error:
        frames = traceback.extract_tb(error.__traceback__)[-12:]
        return "".join(f"    {Path(one.filename).name}:{one.lineno} {one.name}\n" for one in frames)
    except Exception as error:  # a defect of another kind, which is worth as much
        return f"    {type(error).__name__}: {error}\n"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


if __name__ == "__main__":
    sys.exit(main())
