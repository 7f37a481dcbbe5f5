"""The small tree that a file is read into, against Python's own."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from trainlint.program.source import syntax as s
from trainlint.program.source.nesting import too_deep
from trainlint.program.source.read import read
from trainlint.program.source.unreadable import Unreadable

ROOT = Path(__file__).parent.parent
FILES = sorted(
    file for folder in ("trainlint", "rules", "fixtures", "bench") for file in (ROOT / folder).rglob("*.py")
)
TRICKY = r'''
# f( in a comment, ' and "
"""f(1) in a string"""
a = f(1)
b = (f)(2), (f(3)), ((f((4)))), f (5), f\
(6)
c = a.b(1).c(2)[d(3)](4)()
e = f(')', "(", b"[", r'\'', """
) f( """, '\\', rf"{x}(", f'{y(1)}' f"{z(2):{w(3)}}", u"")
g = [f(i) for i in h(1) if k(i)], {f(1): g(2), **h(3)}, {f(1), *g(2)}, (f(i) for i in h(1)), {f(1): g(1) for x in h(1)}
lambda x=f(1), *y, z=g(2), **w: h(3)
async def m(x: f(1) = g(2), /, y=h(3), *z, k: f(4) = g(5), **w) -> None:
    await f(1)
    async with f(1) as g(2).x, h(3): pass
    async for i in f(1): yield f(2)
    else: g(3)
    return await (f(1))
@f(1)
@f.g(2)
class C(f(1), metaclass=g(2)):
    x: f(1) = g(2)
    y: f(3)
    def n(self): nonlocal_ = f(1); del f(2)[0], g(3).x; return not -f(4)
if f(1): pass
elif g(2): h(3)
else: k(4)
for x.y, f(1)[0] in g(2): continue
else: h(3)
while f(1): break
try: f(1)
except f(2) as e: raise f(3)
else: g(4)
finally: h(5)
with (f(1) as a, g(2) as b): pass
with (f(1)): pass
x = f(1) if g(2) else h(3)
x = f(1) < g(2) <= h(3) != k(4) and f(5) or not g(6)
x = f(1) + g(2) * h(3) ** -k(4) @ f(5) // (g(6) | h(7)) << k(8)
x[f(1):g(2):h(3), ..., f(4)] = y = z[:f(5), ::g(6)]
x += f(1)
x @= f(2); (y := f(3)); print(*f(4), sep=g(5), **h(6))
f(f)(f)(f(f)(f=f(f), *f(f)))
print(f(1), 1.5e3, .5, 5., 0xFF if 0 else 1j, 1_000, f(2), 'a' 'b', f(3))
match f(1):
    case [x, g.h, {"a": 1}, K(y=2)] if True: f(3)
    case _: f(4)
é = naïve(ñ(1), 'é𝄞') ; ﬁ = f(2)
'''
F_STRINGS = """
x = f"{f(1)} {'a'} {{g(0)}}" + h(1)
y = f'''{f(1)
}''' + g(2)
z = f"{x!r:>{width(1)}}" f"{y=}" "f(1)", rf'\\{f(2)}', F"{d['k'](1)}"
w = h(3)
"""


def spans(node: object, inside: bool = False) -> Iterator[tuple[int, int]]:
    """Of every call in a small tree, those in f-strings left out: they stand where the string stands."""
    if isinstance(node, (tuple, list)):
        for one in node:
            yield from spans(one, inside)
    elif is_dataclass(node):
        inside = inside or isinstance(node, s.Text)
        if isinstance(node, s.Call) and not inside:
            yield node.at
        for field in fields(node):
            yield from spans(getattr(node, field.name), inside)


def python_spans(text: str) -> Iterator[tuple[int, int]]:
    """The same from Python's tree. What `read` leaves out is left out: it says nothing about training."""
    lines = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
    texts = re.split("(?<=\n)|(?<=\r)(?!\n)", text)

    def offset(line: int, column: int) -> int:
        return lines[line - 1] + len(texts[line - 1].encode()[:column].decode())

    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.JoinedStr():
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.returns = None
            case ast.Assert():
                node.msg = None
            case ast.Raise():
                node.cause = None
            case ast.Assign(
                targets=[ast.Name()],
                value=ast.Call(func=ast.Name("import_module"), args=[ast.Constant()], keywords=[]),
            ):
                continue  # an import
            case ast.Call(end_lineno=int(), end_col_offset=int()):
                yield (
                    offset(node.lineno, node.col_offset),
                    offset(node.end_lineno or 0, node.end_col_offset or 0),
                )
        waiting.extend(ast.iter_child_nodes(node))


def bare(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A span without the redundant parentheses around it."""
    start, end = span
    while text[start] == "(":
        try:
            ast.parse(text[start:end].replace("await", ""), mode="eval")
            inner = text[start + 1 : end - 1]
            ast.parse(f"({inner})", mode="eval")
            ast.parse(inner.strip().replace("\n", " "), mode="eval")
        except SyntaxError:
            break
        start += 1 + len(inner) - len(inner.lstrip())
        end -= 1 + len(inner) - len(inner.rstrip())
    return start, end


def compare(text: str) -> None:
    # `a < b() < c` is read as `a < b() and b() < c`, so that calls may come twice
    mine = sorted({bare(text, span) for span in spans(read(text).body)})
    pythons = sorted(python_spans(text))
    assert [text[slice(*span)] for span in mine] == [text[slice(*span)] for span in pythons]
    assert mine == pythons


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(ROOT)) for file in FILES])
def test_calls_stand_where_python_sees_them(file: Path) -> None:
    compare(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "guard", ["", " if n not in s", " if (n not in s)", " if (\n    s.has(n)\n    )", " if s.add(n)"]
)
@pytest.mark.parametrize("body", ["s.add(n)", "n.add(s)", "(s).add('a')", "print('a', 1)"])
@pytest.mark.parametrize(
    "pattern",
    [
        "str(n)",
        "[n, *s]",
        '{"n": n, **s}',
        "1 | (2)",
        "('a' | 'b')",
        "n",
        "s()",
        "s.K(n=(1, n)) as g",
        "None",
        "-1",
        "_",
    ],
)
def test_what_follows_a_pattern_stands_behind_it(pattern: str, guard: str, body: str) -> None:
    compare(f"def f(g, s, n):\n    match g:\n        case {pattern}{guard}:\n            {body}\n")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", [TRICKY, F_STRINGS])
def test_tricky_syntax(text: str, end: str) -> None:
    compare(text.replace("\n", end))


@pytest.mark.parametrize(
    "statement", [line for line in TRICKY.splitlines() if re.match(r"[a-zé]+ = |f\(|print", line)]
)
def test_what_follows_still_stands_where_it_should(statement: str) -> None:
    try:
        ast.parse(statement)
    except SyntaxError:
        pytest.skip("part of a statement")
    compare(f"{statement}\n{statement}\nlast(1)\n")


READ = """
import sys
from pathlib import Path
from trainlint.program.source.parser import nodes
from trainlint.program.source.read import read
from trainlint.program.source.unreadable import Unreadable

print(nodes.Name.__module__, file=sys.stderr)
for file in sys.argv[1:]:
    try:
        print(read(Path(file).read_text(encoding="utf-8")))
    except Unreadable as error:
        print(error, error.line)
"""


def test_plain_nodes_say_what_libcst_s_own_say(tmp_path: Path) -> None:
    broken = "x = 1\nx = = 2\n", "def f(:\n", "if x:\ny\n", "x = '"
    files = [*map(str, FILES[::3])]
    for number, text in enumerate((TRICKY, F_STRINGS, *broken)):
        files.append(str(tmp_path / f"{number}.py"))
        Path(files[-1]).write_text(text, encoding="utf-8")

    def printed(before: str) -> tuple[str, str]:
        ran = subprocess.run(
            [sys.executable, "-c", before + READ, *files],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"},
        )
        return ran.stderr.strip(), ran.stdout

    own, plain = printed("import libcst"), printed("")
    assert (own[0], plain[0]) == ("libcst._nodes.expression", "trainlint.program.source.parser")
    assert own[1] == plain[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nf(2,\ny = 3\n", (2, "syntax error: '(' was never closed")),
        ("for x in y\n    pass\n", (1, "syntax error: expected ':'")),
        ("if x:\npass\n", (2, "syntax error: expected an indented block after 'if' statement")),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_python(text: str, said: tuple[int, str]) -> None:
    with pytest.raises(Unreadable) as raised:
        read(text)
    assert (raised.value.line, str(raised.value)) == said


def test_lines() -> None:
    module = read("a\r\nb\rc\nd\n\fe\n")
    assert module.lines == (0, 3, 5, 7, 9, 12)


def test_same_quotes_inside_an_f_string() -> None:
    text = 'x = f"{d["("]} {f"{e[")"](1)}"}"\nlast(1)\n'
    try:
        module = read(text)
    except Unreadable:
        pytest.skip("this libcst does not know them")
    start = text.index("last")
    assert list(spans(module.body)) == [(start, start + 7)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n" * 5000, None),
        ("x = [" + "a.b + c(1)[2],\n" * 5000 + "]", None),
        ("x = [" + "lambda a, b: not a,\n" * 5000 + "]", None),
        ("# " + "(" * 5000 + "\nx = '" + "(" * 5000 + "'", None),
        ('"""' + "(\n" * 5000 + '"""', None),
        ("x = (a +\n" + "b +\n" * 600 + "c)", 501),
        ("x = a \\\r\n" + "+ b \\\r\n" * 600 + "+ c", 502),
        ("x = 1\r\ry = " + "(" * 200, 3),
        ("x = " + "(" * 99 + "a" + ")" * 99 + "\n", None),
        ("x = " + "(  # )\n" * 3000 + "1\n" + ")  # (\n" * 3000, 100),
        ("x = '\n" + "((\n" * 40 + "def f():\n" + "((\n" * 40, None),
    ],
)
def test_nesting(text: str, line: int | None) -> None:
    assert too_deep(text) == line


def test_what_python_would_warn_of_in_a_file_is_not_said_of_trainlint() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read('pattern = "\\d"\n')


TABS = 'with f(1) as g:\n\t  for x in h(2):\n\t\t    k(3)\n\t\t    """\n\ta(4)"""; m(5)\n\t  n(6)\no(7)\n'


def test_a_tab_leads_to_the_next_multiple_of_eight_columns() -> None:
    assert sorted(spans(read(TABS).body)) == sorted(python_spans(TABS))


def test_tabs_that_python_rejects_are_a_syntax_error() -> None:
    with pytest.raises(Unreadable, match="syntax error: inconsistent use of tabs"):
        read("if f(1):\n\tg(2)\n        h(3)\n")
