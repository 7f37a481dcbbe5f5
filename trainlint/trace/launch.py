"""Run a program as Python would, with a recorder that comes in as soon as torch does. Imports no torch itself."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import os
import sys
import threading
import types
from collections.abc import Sequence
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from trainlint.trace.stop import Stop

if TYPE_CHECKING:
    from trainlint.trace.session import Session

_FOLDER = os.path.dirname(os.path.abspath(__file__))


class Launch:
    """A program and its recording.

    Args:
        outcome: file that the recording is written to.
        status: file that says, in a few words, what the recording waits for.
    """

    def __init__(self, outcome: Path, status: Path, steps: int, max_wait: int, root: str | None) -> None:
        self._outcome = outcome
        self._status = status
        self._steps = steps
        self._max_wait = max_wait
        self._root = root
        self._session: Session | None = None
        self._written = False
        self._pid = os.getpid()
        self.children = 0
        self._exit = os._exit
        os._exit = self._leave_at_once

    # Recording

    def torch_is_here(self) -> None:
        """Torch has been imported: from now on, everything is recorded."""
        from trainlint.trace.session import Session, TooOld

        try:
            self._session = Session(
                steps=self._steps,
                root=self._root,
                max_wait=self._max_wait,
                ended=self._recorded,
                waiting=self.waits_for,
            )
        except TooOld as error:
            self.give_up(str(error))

    def waits_for(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a full disk must not end the program
            self._status.write_text(text)

    def _recorded(self, how: str) -> None:
        """Enough is recorded: write it down and end the program."""
        assert self._session is not None
        self.write(how)
        self._session.close(keep_mode=True)
        stop_for_good()
        raise Stop

    def write(self, how: str, error: BaseException | None = None) -> None:
        """Write the recording, once. Does nothing in processes that the program has forked."""
        if self._written or os.getpid() != self._pid:
            return
        self._written = True
        if self._session is None:
            self._outcome.with_suffix(".none").write_text(f"{how}\n{_last_line(error)}\n{self.children}")
            return
        from trainlint.trace.experiments import experiments
        from trainlint.trace_file import dumped

        session = self._session
        session.recorder.is_on = False
        at = None
        if error is not None and error.__traceback__ is not None:
            at = _where(session, error)
        recorded = session.facts(
            how,
            error=_last_line(error),
            at=at,
            children=self.children,
            extra=experiments(session.recorder) if how in ("recorded", "finished") else (),
        )
        temporary = self._outcome.with_suffix(".part")
        temporary.write_text(dumped(recorded), encoding="utf-8")
        temporary.replace(self._outcome)

    def give_up(self, message: str) -> NoReturn:
        """The program cannot be recorded at all."""
        self._outcome.with_suffix(".refused").write_text(message)
        self._written = True
        self._exit(2)
        raise SystemExit(2)

    def _leave_at_once(self, status: int) -> NoReturn:
        """The program's `os._exit`."""
        self.write("exited")
        self._exit(status)
        raise SystemExit(status)

    def finish(self, how: str, error: BaseException | None = None) -> None:
        self.write(how, error)
        os._exit = self._exit
        if self._session is not None:
            self._session.close(keep_mode=threading.current_thread() is not threading.main_thread())


class _TorchComes(importlib.abc.MetaPathFinder):
    """Waits for torch to be imported, and is gone then."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = find_spec("torch")
        if spec is None or spec.loader is None:
            return spec
        loader, launch = spec.loader, self._launch
        run = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            loader.exec_module = run  # type: ignore[method-assign]
            run(module)
            launch.torch_is_here()

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def stop_for_good() -> None:
    """A program that catches everything and goes on training is ended again at its next backward or step."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    def again(*_: Any, **__: Any) -> NoReturn:
        raise Stop

    torch.autograd.backward = again
    register_optimizer_step_pre_hook(again)


def main(arguments: Sequence[str]) -> None:
    """Run the program that the arguments name, as `child.py` says."""
    outcome, status, steps, max_wait, kind, target, *rest = arguments
    root = os.path.dirname(os.path.abspath(target)) if kind == "script" else None
    launch = Launch(Path(outcome), Path(status), int(steps), int(max_wait), root)
    launch.waits_for("torch to be imported")
    sys.meta_path.insert(0, _TorchComes(launch))
    sys.addaudithook(_children(launch))
    try:
        code, module = _program(kind, target, rest)
    except _Unrunnable as error:
        launch.give_up(str(error))
    try:
        exec(code, module.__dict__)
    except Stop:
        launch.finish("recorded")
        raise SystemExit(0) from None
    except SystemExit as error:
        launch.finish("finished", error if error.code not in (None, 0) else None)
        error.__traceback__ = _without_us(error.__traceback__)
        raise
    except BaseException as error:
        _clean(error)
        launch.finish("interrupted" if isinstance(error, KeyboardInterrupt) else "failed", error)
        sys.excepthook(type(error), error, error.__traceback__)
        raise SystemExit(130 if isinstance(error, KeyboardInterrupt) else 1) from None
    launch.finish("finished")


class _Unrunnable(Exception):
    """There is no such program."""


def _program(kind: str, target: str, rest: Sequence[str]) -> tuple[types.CodeType, types.ModuleType]:
    """The code of a script or module, and a fresh `__main__` for it; `sys` is as under `python`."""
    main_module = types.ModuleType("__main__")
    main_module.__dict__["__builtins__"] = __builtins__
    if kind == "script":
        sys.argv = [target, *rest]
        sys.path[0] = os.path.dirname(os.path.abspath(target))
        main_module.__file__ = os.path.abspath(target) if sys.version_info >= (3, 9) else target
        loader = importlib.machinery.SourceFileLoader("__main__", target)
        main_module.__loader__ = loader
        main_module.__spec__ = None
        sys.modules["__main__"] = main_module
        with open(target, "rb") as file:
            data = file.read()
        return _compiled(data, main_module.__file__), main_module
    sys.path[0] = os.getcwd()
    sys.argv = ["-m", *rest]
    try:
        spec = find_spec(target)
        if spec is not None and spec.submodule_search_locations is not None:
            target = f"{target}.__main__"
            spec = find_spec(target)
    except ImportError as error:
        raise _Unrunnable(f"the module `{target}` cannot be found: {error}") from None
    loader_of = spec.loader if spec is not None else None
    code = getattr(loader_of, "get_code", lambda _: None)(target)
    if spec is None or code is None:
        raise _Unrunnable(f"no module named `{target}` can be run")
    made = module_from_spec(spec)
    main_module.__dict__.update(
        {name: value for name, value in vars(made).items() if name not in ("__name__", "__builtins__")}
    )
    sys.argv[0] = spec.origin or target
    sys.modules["__main__"] = main_module
    return code, main_module


def _compiled(data: bytes, file: str) -> types.CodeType:
    """The program as Python compiles it; a syntax error is shown as Python shows it."""
    try:
        return compile(data, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        sys.excepthook(type(error), error, None)
        raise _Unrunnable(f"{file} cannot be compiled: {error}") from None


def _children(launch: Launch) -> Any:
    """Counts the processes that the program starts."""

    def hook(event: str, _: Any) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec", "os.spawn"):
            launch.children += 1

    return hook


def _clean(error: BaseException) -> None:
    """Take our own frames out of an exception and of those that led to it."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _without_us(one.__traceback__)
        pending += [one.__cause__, one.__context__]


def _without_us(traceback: types.TracebackType | None) -> types.TracebackType | None:
    kept = []
    while traceback is not None:
        if os.path.dirname(traceback.tb_frame.f_code.co_filename) != _FOLDER:
            kept.append(traceback)
        traceback = traceback.tb_next
    result: types.TracebackType | None = None
    for one in reversed(kept):
        result = types.TracebackType(result, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return result


def _last_line(error: BaseException | None) -> str:
    if error is None:
        return ""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _where(session: Session, error: BaseException) -> Any:
    """The program's own line that an exception came from."""
    from trainlint.finding import Place

    found = None
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if session.recorder.own.innermost(frame) is frame:
            path = session.recorder.own.shown(frame.f_code.co_filename)
            found = Place(path, traceback.tb_lineno, 1, traceback.tb_lineno, 1)
        traceback = traceback.tb_next
    return found
