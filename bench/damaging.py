"""Programs with one kind of damage each, drawn from programs that are whole."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Damage = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def cut(data: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    """Only the beginning."""
    return data[: draw.randrange(len(data) + 1)]


def spliced(data: bytes, draw: random.Random, others: Sequence[bytes]) -> bytes:
    """The beginning of one program and the end of another, by lines."""
    mine, theirs = data.splitlines(True), draw.choice(others).splitlines(True)
    return b"".join([*mine[: draw.randrange(len(mine) + 1)], *theirs[draw.randrange(len(theirs) + 1) :]])


def flipped(data: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    """Up to eight bytes that are others."""
    found = bytearray(data)
    for _number in range(draw.randint(1, 8)):
        if found:
            found[draw.randrange(len(found))] = draw.randrange(256)
    return bytes(found)


def without_lines(data: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    """Every line stays with nine chances in ten."""
    return b"".join(line for line in data.splitlines(True) if draw.random() < 0.9)


def shuffled(data: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    """Two lines have changed places, five times."""
    lines = data.splitlines(True)
    for _number in range(5 if len(lines) > 1 else 0):
        a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def renamed(data: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    """One name in the place of another, everywhere: what was two things is one."""
    words = sorted({word for word in data.replace(b"(", b" ").replace(b".", b" ").split() if word.isalpha()})
    if len(words) < 2:
        return data
    return data.replace(draw.choice(words), draw.choice(words))


def indented(data: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    """A part of the program under forty conditions and loops."""
    heads = [b"if x:", b"for i in x:", b"while x:", b"with x:", b"try:"]
    found, depth = [], 40
    for number in range(depth):
        found.append(b" " * number + draw.choice(heads[:4]))
    found += [b" " * depth + line for line in data.splitlines()]
    return b"\n".join([*found, b" " * depth + b"pass", b""])


def encoded(data: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    """In an encoding that the file names, or not, or wrongly."""
    text = data.decode("utf-8", "replace") + "# é日\n"
    name = draw.choice(["utf-16", "latin-1", "utf-8-sig", "shift-jis", "utf-7", "nonsense"])
    head = f"# -*- coding: {name} -*-\n" if draw.random() < 0.7 else ""
    coding = name if name != "nonsense" else "utf-8"
    return (head + text).encode(coding, "replace")


DAMAGES: dict[str, Damage] = {
    one.__name__: one for one in (cut, spliced, flipped, without_lines, shuffled, renamed, indented, encoded)
}
