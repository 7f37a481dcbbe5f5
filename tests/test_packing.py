"""Bodies of functions that are held as bytes: they are what they were, whenever somebody asks for them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from trainlint.program.incremental.cache import Cache
from trainlint.program.source import syntax as s
from trainlint.program.source.packing import drop_bodies
from trainlint.program.source.read import read
from trainlint.program.source.storage import compact, unpacked_body

TEXT = """\
import torch

if torch:
    def first(x):
        global rate
        rate = 1e-3

        def inner():
            return x
        return inner

class Net:
    def forward(self, x, scale=lambda y: y):
        return scale(x)
"""


def functions(module: s.Module) -> tuple[s.Function, s.Function]:
    _, branch, net = module.body
    assert isinstance(branch, s.If) and isinstance(net, s.Class)
    first, forward = branch.body[0], net.body[0]
    assert isinstance(first, s.Function) and isinstance(forward, s.Function)
    return first, forward


def is_there(function: s.Function) -> bool:
    """Whether the body is held as a tree."""
    try:
        vars(s.Function)["body"].__get__(function)  # the slot, which asks nobody else
    except AttributeError:
        return False
    return True


def test_a_body_is_unpacked_when_it_is_asked_for_and_can_be_dropped() -> None:
    module = read(TEXT)
    small = compact(module)
    assert list(small.lines) == list(module.lines) and small.declared == {"rate"}
    for before, after in zip(functions(module), functions(small), strict=True):
        assert is_there(before) and not is_there(after)
        assert after == before  # which asks for the body
        assert is_there(after)
    for one in (module, small):
        drop_bodies(one)
    assert all(map(is_there, functions(module)))  # which are nowhere else
    assert not any(map(is_there, functions(small)))
    assert compact(small).body == small.body == module.body


def test_a_damaged_body_is_an_entry_that_is_not_there(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.save_module("key", read(TEXT))
    [entry] = tmp_path.rglob("modules/key")
    whole = entry.read_bytes()
    loaded = cache.load_module("key")
    assert loaded is not None and loaded.body == read(TEXT).body
    at = whole.index(b"inner")
    entry.write_bytes(whole[:at] + b"other" + whole[at + 5 :])
    assert cache.load_module("key") is None


class Malicious:
    def __init__(self, sign: Path) -> None:
        self.sign = sign

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.mkdir, (self.sign,)


def test_a_forged_body_runs_no_code_and_changes_no_class(tmp_path: Path) -> None:
    assert unpacked_body(pickle.dumps((Malicious(tmp_path / "owned"),))) == ()
    assert not (tmp_path / "owned").exists()
    assert unpacked_body(pickle.dumps(1)) == () and unpacked_body(b"") == ()
    state: bytes = pickle.dumps((None, {"name": "x"}), protocol=2)[2:-1]
    before = dict(vars(s.Name))
    assert unpacked_body(b"\x80\x02c" + f"{s.__name__}\nName\n".encode() + state + b"b.") == ()
    assert dict(vars(s.Name)) == before
    body = functions(read(TEXT))[0].body
    assert unpacked_body(pickle.dumps(body)) == body
