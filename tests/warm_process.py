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
import fcntl  # noqa: E402
import functools  # noqa: E402
import gc  # noqa: E402
import importlib  # noqa: E402
import importlib.abc  # noqa: E402
import importlib.machinery  # noqa: E402
import io  # noqa: E402
import marshal  # noqa: E402
import os  # noqa: E402
import runpy  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import time  # noqa: E402
import types  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple, NoReturn  # noqa: E402

ROOT = Path(sys.argv[1])
RANKS = 2
"""How many processes a program starts that trains in more than one."""
STARTS = {"trainlint run": 1, "trainlint test-rules": 6, "torch.distributed.run": RANKS}
"""How many processes of Python a module starts."""
SECONDS_OF_GLOO = 0.1
MOST_FILES = 16
LENGTH = 12
"""Bytes that say how long an order is."""
OF_ITS_OWN = 20
"""Where `subprocess` says whether a process begins a session."""
RECORDS = str(ROOT / "trainlint/trace/launch/child.py")
"""The script in which `trainlint run` records a program."""
TOGETHER = (
    "numpy",
    "torch",
    "torch._dynamo",
    "torch.profiler._cupti_monitor",
    "torch.distributed.run",
    "resource",
)
"""Who imports one of these has imported what it imports, too."""
NOT_AHEAD = frozenset(("agents", "integrations", "pytest_plugin"))
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
    numbers: list[int] = [0, 1, 2]  # noqa: RUF012
    """Which open files it begins with: the standard streams, and what was handed to it beside them."""
    leads: bool = False
    """Whether it is the first of a session of its own."""


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


class Command(NamedTuple):
    """A command that goes on, and who waits for its end."""

    pid: int
    ending: int
    """A file that can be read once the command has ended."""
    line: socket.socket

    def tell(self) -> None:
        """It has ended: say how."""
        os.close(self.ending)
        _, status = os.waitpid(self.pid, 0)
        with contextlib.suppress(OSError), self.line:
            self.line.sendall(b"%d" % os.waitstatus_to_exitcode(status))

    def end(self) -> None:
        """Nobody waits for it any more."""
        os.killpg(self.pid, signal.SIGKILL)
        self.tell()


def serve(door: socket.socket, life: socket.socket) -> Order:
    """Carry out the order of each who comes in, side by side. Returns in a fork, with the order that this is to carry out.

    Each is told the number of the process, and in the end its exit code.
    """
    commands: list[Command] = []
    while True:
        waiting = [door, life, *(end for one in commands for end in (one.ending, one.line))]
        ready, _, _ = select.select(waiting, [], [])
        if life in ready:
            os._exit(0)
        for one in [one for one in commands if one.ending in ready or one.line in ready]:
            commands.remove(one)
            if one.ending in ready:
                one.tell()
            else:
                one.end()
        if door in ready:
            line, _ = door.accept()
            order, files = received(line)
            if order is None:
                line.close()
                continue
            pid = os.fork()
            if pid == 0:
                for kept in (door, life, line, *(one.line for one in commands)):
                    kept.close()
                for one in commands:
                    os.close(one.ending)
                os.setpgid(0, 0)
                hold(files, order)
                return order
            with contextlib.suppress(OSError):
                os.setpgid(pid, pid)  # whoever comes first
            for file in files:
                os.close(file)
            commands.append(Command(pid, os.pidfd_open(pid), line))
            line.sendall(b"%d\n" % pid)


def received(orders: socket.socket) -> tuple[Order | None, list[int]]:
    """The next order, and the open files that it begins with."""
    length, files, *_ = socket.recv_fds(orders, LENGTH, MOST_FILES)
    if not length:
        return None, files
    text = b""
    while len(text) < int(length):
        text += orders.recv(int(length) - len(text))
    return Order(*marshal.loads(text)), files


def sent(order: Order, files: list[int], line: socket.socket) -> None:
    text = marshal.dumps((*order,))
    socket.send_fds(line, [b"%*d" % (LENGTH, len(text))], files)
    line.sendall(text)


def hold(files: list[int], order: Order) -> None:
    """Have these open files under the numbers that the order says."""
    above = max(*order.numbers, *files) + 1
    aside = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, above) for file in files]
    for file in files:
        os.close(file)
    for number, file in zip(order.numbers, aside, strict=True):
        os.dup2(file, number)
        os.close(file)
    if order.leads:
        os.setsid()


class Reserve(NamedTuple):
    """A fork that waits until a command starts a process of Python, and becomes that process."""

    pid: int
    line: socket.socket

    def start(self, order: Order, files: list[int]) -> None:
        sent(order, files, self.line)
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
    order, files = received(there)
    if order is None:
        os._exit(0)
    there.close()
    hold(files, order)
    return order


def use(reserves: list[Reserve], subprocess: Any, util: Any) -> None:
    """Have the next processes of Python started from the reserve."""
    kind, owner = subprocess.Popen, os.getpid()
    start, spawn = kind._execute_child, util.spawnv_passfds

    def wanted(arguments: Sequence[str]) -> list[str]:
        """What comes behind the name of Python and its options, where this may be started from the reserve."""
        first, *rest = arguments
        while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
            rest = rest[1:]  # as this process was started
        return rest if first == sys.executable and reserves and os.getpid() == owner else []

    def starting(process: Any, arguments: Any, *others: Any) -> None:
        rest = wanted(arguments)
        if not rest or rest[0] == "-c":
            start(process, arguments, *others)
            return
        folder, variables = others[4:6]
        ends = others[9:15]
        given = (ends[0], ends[3], ends[5])
        taken = reserves.pop()
        taken.start(
            Order(
                rest,
                str(folder or os.getcwd()),
                dict(variables or os.environ),
                leads=bool(others[OF_ITS_OWN]),
            ),
            [number if end == -1 else end for number, end in enumerate(given)],
        )
        process.pid, process._child_created = taken.pid, True
        process._close_pipe_fds(*ends)

    def spawning(path: Any, arguments: Any, kept: Any) -> int:
        """As `multiprocessing` starts a process that is no fork."""
        rest = wanted([os.fsdecode(one) for one in arguments])
        if not rest or rest[-1] != "--multiprocessing-fork":
            return int(spawn(path, arguments, kept))
        taken = reserves.pop()
        files = [0, 1, 2, *sorted(set(map(int, kept)) - {0, 1, 2})]
        taken.start(Order(rest, os.getcwd(), dict(os.environ), files), files)
        return taken.pid

    def leave() -> None:
        if os.getpid() == owner:
            for one in reserves:
                one.line.close()
                os.waitpid(one.pid, 0)

    kind._execute_child, util.spawnv_passfds = starting, spawning
    atexit.register(leave)


def most_processes(order: Order) -> int:
    """How many processes of Python a command starts."""
    first, *rest = order.arguments
    if first == "-m":
        return STARTS.get(" ".join(rest[:2]), STARTS.get(rest[0], 0))
    return RANKS if any(_spawns(Path(order.folder, one)) for one in order.arguments) else 0


def _spawns(file: Path) -> bool:
    """Whether a program starts processes that are no forks."""
    return file.suffix == ".py" and file.is_file() and b"spawn" in file.read_bytes()


def opened() -> None:
    """Have standard streams as Python opens them: another way for a terminal or a pipe than for a file."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before = getattr(sys, name)
        file = open(number, "rb" if name == "stdin" else "wb", closefd=False)  # noqa: SIM115
        at_once = name == "stderr" or file.isatty()
        stream: Any = io.TextIOWrapper(file, before.encoding, before.errors, "\n", line_buffering=at_once)
        stream.mode = before.mode
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def let_gloo_end(distributed: Any) -> None:
    """Give threads of gloo the interpreter, which they ask for when their work is done, before a rank frees its model.

    It waits for them then, and they for the interpreter: without this, one run in ten of two ranks never ended.
    """
    destroy = distributed.destroy_process_group

    @functools.wraps(destroy)
    def destroying(*given: Any, **named: Any) -> None:
        time.sleep(SECONDS_OF_GLOO)
        destroy(*given, **named)

    distributed.destroy_process_group = destroying


def carry_out(order: Order, ahead: Ahead) -> None:
    """Become what `python` with these arguments is."""
    os.chdir(order.folder)
    opened()
    os.environ.clear()
    os.environ.update(order.variables)
    ahead["numpy"].random.seed()
    ahead["torch"].default_generator.seed()
    ahead["multiprocessing.process"].ORIGINAL_DIR = order.folder
    first, *rest = order.arguments
    if first == "-c" or "RANK" in order.variables:
        let_gloo_end(ahead["torch.distributed"])
    sys.orig_argv = [sys.executable, *order.arguments]
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    vars(main)["__builtins__"] = builtins
    if sys.version_info < (3, 14):
        vars(main).update(__annotations__={})
    try:
        if first == "-m":
            sys.argv, sys.path[0] = ["-m", *rest[1:]], os.getcwd()
            runpy._run_module_as_main(rest[0])  # type: ignore[attr-defined]
        elif first == "-c":
            sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
            exec(compile(rest[0], "<string>", "exec", dont_inherit=True), vars(main))
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
    door, life = (socket.socket(fileno=int(one)) for one in sys.argv[2:4])
    ahead.forget()
    gc.collect()
    gc.freeze()  # or each fork copies all that is there when it looks for what could be freed
    order = serve(door, life)
    reserves: list[Reserve] = []
    while len(reserves) < most_processes(order):
        kept = reserve(reserves)
        if isinstance(kept, Order):
            order, reserves = kept, []
        else:
            reserves.append(kept)
    if reserves:
        use(reserves, ahead["subprocess"], ahead["multiprocessing.util"])
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
