"""Files from disk to modules of a program, each read once."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trainlint.finding import Problem
from trainlint.program import syntax as s
from trainlint.program.read import Unreadable, read


class HasSource(Protocol):
    path: str
    text: bytes | None


@dataclass
class Loaded:
    modules: dict[str, s.Module] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def load(sources: Sequence[HasSource]) -> Loaded:
    loaded = Loaded()
    for source in sources:
        try:
            data = source.text if source.text is not None else open(source.path, "rb").read()
            loaded.modules[source.path] = read(decode(data))
        except OSError as error:
            loaded.problems.append(Problem(source.path, None, str(error)))
        except (SyntaxError, UnicodeError, LookupError) as error:
            loaded.problems.append(Problem(source.path, None, f"cannot be decoded: {error}"))
        except Unreadable as error:
            loaded.problems.append(Problem(source.path, error.line, str(error)))
    return loaded


def decode(data: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)
