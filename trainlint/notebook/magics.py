"""What IPython understands beside Python: magics, shell lines, questions. Lines stay where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.project.soundness import parses

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|$)")
_CELL_MAGIC = re.compile(r"%%(\w+)(?!\w*\?)(.*)")
_BODY_IS_PYTHON = frozenset(
    "capture debug heat ipytest memit mprun prun pyinstrument scalene snakeviz time timeit trainlint wandb".split()
)
"""Cell magics that run the rest of the cell among the names of the notebook."""
_LINE_MAGIC = re.compile(r"%(\w+)[ \t]+(.*)")
_RUNS_ITS_LINE = frozenset("lprun memit mprun prun snakeviz time timeit".split())
_TARGET = r"[^\W\d]\w*(?:\.[^\W\d]\w*|\[[^\[\]]*\])*"
_ASSIGNED = re.compile(rf"([ \t]*\(?{_TARGET}(?:[ \t]*,[ \t]*{_TARGET})*[ \t]*,?\)?[ \t]*=[ \t]*)([%!].*)")
_ESCAPES = tuple("%!?/,;")
_AUTOMATIC = re.compile(
    r"(?:autoreload|cat|cd|conda|cp|load_ext|ls|mamba|matplotlib|micromamba|mkdir|mv|pip|pip3|pushd|pylab|rm|rmdir|run"
    r"|time|timeit|uv|wget)[ \t]+(?!(?:and|else|for|if|in|is|not|or)\b)[\w./~\"'{$]"
)
"""Lines that IPython takes for magics though they have no `%`, and that cannot be Python."""
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")
_TOKEN = re.compile(
    r"""(?P<comment>\#.*)
    | (?P<block>\"\"\"|''')
    | \"(?:\\.|[^\"\\])*\" | '(?:\\.|[^'\\])*'
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<question>\?\??[ \t]*$)
    | (?P<continued>\\$)""",
    re.VERBOSE,
)
_NOTHING = "pass"
_UNKNOWN = "get_ipython()"


def margins(source: str) -> tuple[int, ...]:
    """How many characters IPython takes from the beginning of each line of a cell: the indentation or the prompt of
    the first one, where others have it too."""
    bodies = [match[1] for match in _LINE.finditer(source)]
    first = next((body for body in bodies if body.strip()), "")
    if _PROMPT.match(first):
        return tuple(match.end() if (match := _PROMPT.match(body)) else 0 for body in bodies)
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return tuple(len(indent) if body.startswith(indent) else 0 for body in bodies)


def without_margins(source: str, widths: tuple[int, ...]) -> str:
    lines = zip(_LINE.finditer(source), widths, strict=True)
    return "".join(match[0][width:] for match, width in lines)


def python(source: str) -> str | None:
    """The Python of a cell, each part at its line and column; None if the cell is in another language."""
    lines = [(match[1], match[2]) for match in _LINE.finditer(source)]
    first = 0
    while first < len(lines) and (not lines[first][0].strip() or lines[first][0].startswith("%%")):
        match = _CELL_MAGIC.match(lines[first][0])
        if match is not None:
            if match[1] not in _BODY_IS_PYTHON:
                return None
            setup = _run_by_magic(match[2], len(lines[first][0])) if match[1] == "timeit" else None
            lines[first] = (setup or "", lines[first][1])
        elif lines[first][0].strip():
            break
        first += 1
    return "".join(_translated(lines))


def _translated(lines: list[tuple[str, str]]) -> Iterator[str]:
    """Lines and their ends, where a magic may begin at the first."""
    state = _Between()
    in_magic = False
    for body, end in lines:
        if in_magic:
            in_magic = body.endswith("\\")
            yield end
            continue
        asks = state.is_new and _Between().asks(body)
        new = _instead(body, asks) if state.is_new else None
        if new is None:
            state.pass_by(body)
            yield body + end
        else:
            in_magic = body.endswith("\\")
            yield new + end


class _Between:
    """What is open between two lines: a string, brackets, a statement."""

    def __init__(self) -> None:
        self._string: str | None = None
        self._depth = 0
        self._continued = False
        self._asked = False

    @property
    def is_new(self) -> bool:
        """Whether a statement begins at the next line."""
        return self._string is None and not self._depth and not self._continued

    def asks(self, body: str) -> bool:
        """Whether a line that begins a statement is a question."""
        self.pass_by(body)
        return self._asked

    def pass_by(self, body: str) -> None:
        at = 0
        self._continued = self._asked = False
        while at < len(body):
            if self._string is not None:
                closing = re.compile(rf"(?:\\.|(?!{self._string}).)*{self._string}").match(body, at)
                if closing is None:
                    return
                self._string = None
                at = closing.end()
            match = _TOKEN.search(body, at)
            if match is None:
                return
            at = match.end()
            match match.lastgroup:
                case "block":
                    self._string = match[0]
                case "open":
                    self._depth += 1
                case "close":
                    self._depth = max(0, self._depth - 1)
                case "continued":
                    self._continued = True
                case "question":
                    self._asked = True


def _instead(body: str, asks: bool) -> str | None:
    """What stands for a line that begins a statement and is no Python; None if it is Python."""
    code = body.lstrip(" \t\f")
    indent = body[: len(body) - len(code)]
    assigned = _ASSIGNED.fullmatch(body)
    if assigned is not None:
        return assigned[1] + (_result(assigned[2]) or _UNKNOWN)
    if code.startswith(_ESCAPES):
        match = _LINE_MAGIC.fullmatch(code)
        if match is not None and match[1] in _RUNS_ITS_LINE:
            return indent + (_run_by_magic(match[2], len(code)) or _NOTHING)
        return indent + _NOTHING
    if asks or _AUTOMATIC.match(code):
        return indent + _NOTHING
    return None


def _result(magic: str) -> str | None:
    """The expression whose value a magic passes on, at its column."""
    match = re.fullmatch(r"(%time[ \t]+)(.*)", magic)
    if match is None or not parses(f"({match[2]})"):
        return None
    return " " * len(match[1]) + match[2]


def _run_by_magic(rest: str, width: int) -> str | None:
    """The simple statement at the end of a magic's line, after its options, so that it ends at column `width`."""
    starts = [match.start() for match in re.finditer(r"(?<!\S)\S", rest)]
    if starts and not rest[starts[0] :].startswith("-"):
        starts = starts[:1]
    for start in starts:
        statement = rest[start:]
        room = width - len(statement)
        if room >= 2 and parses(f"0;{statement}"):
            return f"{'0;':<{room}}{statement}"
    return None
