"""A process that has imported torch and trainlint, and whose forks run commands as a new `python` would.

What was imported ahead is taken out of `sys.modules` again: a command that imports it has it without the time that it takes.
Started by `tests/warm.py` under a name that is no file's, with this folder's parent and the number of a socket: no line of it
is one of a program.
"""

import sys

FRESH = frozenset(sys.modules)
"""What a new process has imported before its first line."""

import builtins  # noqa: E402

NEEDS: dict[str, dict[str, None]] = {}
"""What each module has imported, by a statement or a call."""
_bootstrap = sys.modules["_frozen_importlib"]
_load, _call = builtins.__import__, vars(_bootstrap)["_gcd_import"]


def _loading(name, space=None, local=None, names=(), level=0):  # type: ignore[no-untyped-def]
    module = _load(name, space, local, names, level)
    if level:
        package = space["__package__"].split(".")
        name = ".".join([*package[: len(package) - level + 1], *([name] if name else [])])
    importing = _importing()
    for one in (name, *(f"{name}.{last}" for last in names or ())):
        _note(importing, one)
    return module


def _calling(name, package=None, level=0):  # type: ignore[no-untyped-def]
    module = _call(name, package, level)
    _note(_importing(), module.__name__)
    return module


def _importing() -> str:
    """The module that is being imported: what functions import when they are called later is not part of it."""
    frame = sys._getframe(2)
    while frame is not None:
        space = frame.f_globals
        if getattr(space.get("__spec__"), "_initializing", False):
            return str(space["__name__"])
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def _note(importing: str, imported: str) -> None:
    needs = NEEDS.setdefault(importing, {})
    while imported in sys.modules and imported not in needs:
        needs[imported] = None
        imported = imported.rpartition(".")[0]


vars(builtins)["__import__"], vars(_bootstrap)["_gcd_import"] = _loading, _calling

import atexit  # noqa: E402
import contextlib  # noqa: E402
import gc  # noqa: E402
import importlib  # noqa: E402
import importlib.abc  # noqa: E402
import importlib.machinery  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import runpy  # noqa: E402
import socket  # noqa: E402
import types  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple, NoReturn  # noqa: E402

ROOT = Path(sys.argv[1])
RECORDS = str(ROOT / "trainlint/trace/launch/child.py")
"""The script in which `trainlint run` records a program."""
TOGETHER = ("numpy", "torch", "torch._dynamo", "torch.profiler._cupti_monitor", "resource")
"""Who imports one of these has imported what it imports, too."""
NOT_AHEAD = frozenset(("agents", "integrations", "pytest_plugin", "server"))
"""Parts of trainlint that need more than torch."""


def ours() -> Iterator[str]:
    """Each module of trainlint, and of its rules."""
    for file in sorted((ROOT / "trainlint").rglob("*.py")):
        name = file.relative_to(ROOT).with_suffix("").parts
        if name[1] not in NOT_AHEAD and file != Path(RECORDS):
            yield ".".join(name).removesuffix(".__init__")
    for file in sorted((ROOT / "rules").glob("tl*/*.py")):
        if not file.name.startswith(("bad", "good")):
            yield f"trainlint.rules.{file.parent.name}.{file.stem}"


class Order(NamedTuple):
    """What to run: the arguments of `python`, and its surroundings."""

    arguments: list[str]
    folder: str
    variables: dict[str, str]


class Ahead(importlib.abc.MetaPathFinder):
    """Finds what was imported ahead, where Python would find the same."""

    def __init__(self) -> None:
        for name in TOGETHER:
            before = set(sys.modules)
            importlib.import_module(name)
            NEEDS.setdefault(name, {}).update(dict.fromkeys(set(sys.modules) - before))
        for name in ours():
            with contextlib.suppress(ImportError):  # what needs an extra that is not installed
                importlib.import_module(name)
        self._modules = {name: module for name, module in sys.modules.items() if name not in FRESH}

    def forget(self) -> None:
        """Be as if nothing was imported."""
        vars(builtins)["__import__"], vars(_bootstrap)["_gcd_import"] = _load, _call
        for name in self._modules:
            del sys.modules[name]
        sys.meta_path.insert(0, self)

    def __getitem__(self, name: str) -> Any:
        return self._modules[name]

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        module = self._modules.get(name)
        kept = getattr(module, "__spec__", None)
        if module is None or kept is None or (path is None and not _comes_first(kept)):
            return None
        spec = importlib.machinery.ModuleSpec(name, Given(module, kept, self))
        spec.__dict__.update({**vars(kept), "loader": spec.loader})
        return spec

    def give(self, name: str) -> None:
        """All that a module has imported is imported."""
        pending = [name]
        while pending:
            for one in NEEDS.get(pending.pop(), ()):
                pending += self._given(one)

    def _given(self, name: str) -> list[str]:
        """A module is imported, and the packages that it is in; which of them have needs that are not met yet."""
        if not name or name in sys.modules or name not in self._modules:
            return []
        left = self._given(name.rpartition(".")[0])
        if self._is_awaited(name):
            importlib.import_module(name)
            return left
        sys.modules[name] = self._modules[name]
        return [*left, name]

    def _is_awaited(self, name: str) -> bool:
        """Whether a finder that was put before this one wants to know of a module."""
        before = sys.meta_path[: sys.meta_path.index(self)]
        return any(finder.find_spec(name, None) is not None for finder in before)


def _comes_first(spec: importlib.machinery.ModuleSpec) -> bool:
    """Whether no module of the same name stands before one that was imported ahead."""
    if spec.origin in (None, "built-in", "frozen"):
        return True
    found = importlib.machinery.PathFinder.find_spec(spec.name)
    return found is not None and found.origin == spec.origin


class Given(importlib.abc.Loader):
    """Loads a module that was imported ahead."""

    def __init__(self, module: types.ModuleType, spec: importlib.machinery.ModuleSpec, ahead: Ahead) -> None:
        self._module, self._spec, self._ahead = module, spec, ahead

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spec.loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self._spec
        self._ahead.give(self._spec.name)


def serve(orders: socket.socket) -> Order:
    """Answer each order with an exit code. Returns in a fork, with the order that this is to carry out."""
    while True:
        order, streams = received(orders)
        if order is None:
            os._exit(0)
        child = os.fork()
        if child == 0:
            orders.close()
            speak_through(streams)
            return order
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        orders.sendall(b"%d" % os.waitstatus_to_exitcode(status))


def received(orders: socket.socket) -> tuple[Order | None, list[int]]:
    """The next order, and its standard streams."""
    text, streams, *_ = socket.recv_fds(orders, 1 << 20, 3)
    return (Order(*json.loads(text)) if text else None), streams


def speak_through(streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)


class Reserve(NamedTuple):
    """A fork that waits until a command starts a process of Python, and becomes that process."""

    pid: int
    line: socket.socket

    def start(self, order: Order, streams: list[int]) -> None:
        socket.send_fds(self.line, [json.dumps(order).encode()], streams)
        self.line.close()


def reserve(others: list[Reserve]) -> Reserve | Order:
    """One more fork in reserve; in that fork, the order that it is to carry out."""
    here, there = socket.socketpair()
    pid = os.fork()
    if pid:
        there.close()
        return Reserve(pid, here)
    for line in (here, *(one.line for one in others)):
        line.close()
    order, streams = received(there)
    if order is None:
        os._exit(0)
    there.close()
    speak_through(streams)
    return order


def use(reserves: list[Reserve], subprocess: Any) -> None:
    """Have the next processes of Python started from the reserve."""
    kind = subprocess.Popen
    start = kind._execute_child

    def starting(process: Any, arguments: Any, *others: Any) -> None:
        first, *rest = arguments
        while rest and rest[0].startswith("-") and rest[0] != "-m":
            rest = rest[1:]  # as this process was started
        if first != sys.executable or not rest or not reserves:
            start(process, arguments, *others)
            return
        folder, variables = others[4:6]
        ends = others[9:15]
        given = (ends[0], ends[3], ends[5])
        taken = reserves.pop()
        taken.start(
            Order(rest, str(folder or os.getcwd()), dict(variables or os.environ)),
            [number if end == -1 else end for number, end in enumerate(given)],
        )
        process.pid, process._child_created = taken.pid, True
        process._close_pipe_fds(*ends)

    def leave() -> None:
        for one in reserves:
            one.line.close()
            os.waitpid(one.pid, 0)

    kind._execute_child = starting
    atexit.register(leave)


def most_processes(order: Order) -> int:
    """How many processes of Python a command starts."""
    if order.arguments[:2] != ["-m", "trainlint"]:
        return 0
    return {"run": 1, "test-rules": 6}.get(order.arguments[2], 0)


def carry_out(order: Order, ahead: Ahead) -> None:
    """Become what `python` with these arguments is."""
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.variables)
    ahead["numpy"].random.seed()
    ahead["torch"].default_generator.seed()
    ahead["multiprocessing.process"].ORIGINAL_DIR = order.folder
    first, *rest = order.arguments
    sys.orig_argv = [sys.executable, *order.arguments]
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    vars(main)["__builtins__"] = builtins
    if sys.version_info < (3, 14):
        vars(main).update(__annotations__={})
    try:
        if first == "-m":
            sys.argv, sys.path[0] = ["-m", *rest[1:]], os.getcwd()
            runpy._run_module_as_main(rest[0])  # type: ignore[attr-defined]
        else:
            sys.argv, sys.path[0] = order.arguments, os.path.dirname(os.path.realpath(first))
            main.__file__ = file = os.path.abspath(first)
            main.__loader__ = importlib.machinery.SourceFileLoader("__main__", file)
            vars(main)["__cached__"] = None
            exec(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True), vars(main))
    except Exception as error:
        whole = error.__traceback__
        assert whole is not None
        error.__traceback__ = whole.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        raise SystemExit(1) from None


def main() -> None:
    ahead = Ahead()
    orders = socket.socket(fileno=int(sys.argv[2]))
    ahead.forget()
    gc.collect()
    gc.freeze()  # or each fork copies all that is there when it looks for what could be freed
    order = serve(orders)
    reserves: list[Reserve] = []
    while len(reserves) < most_processes(order):
        kept = reserve(reserves)
        if isinstance(kept, Order):
            order, reserves = kept, []
        else:
            reserves.append(kept)
    if reserves:
        use(reserves, ahead["subprocess"])
    try:
        carry_out(order, ahead)
    except SystemExit as exit:
        leave(exit.code)
    leave(0)


def leave(code: Any) -> NoReturn:
    """End as Python does, without the time that it takes to free each object of what was imported."""
    if not isinstance(code, int | None):
        print(code, file=sys.stderr)
        code = 1
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    main()
