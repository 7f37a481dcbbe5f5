"""Run a program as Python would, with a recorder that comes in as soon as torch does. Imports no torch itself."""

from __future__ import annotations

import builtins
import contextlib
import importlib.abc
import importlib.machinery
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from trainlint.trace.frames import unwatched
from trainlint.trace.stop import ENDS, Stop

if TYPE_CHECKING:
    from trainlint.facts.recorded import Recorded
    from trainlint.trace.session import Session

_OWN_FAULT = "trainlint's recorder itself failed, which is a bug: please report it with the lines above"

_MOST_STOPS = 10
"""How often a program may catch everything and go on."""


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
        self._folder = os.getcwd()
        self._session: Session | None = None
        self._recorded: Recorded | None = None
        self._is_over = False
        self._pid = os.getpid()
        self._let_go: Callable[[], None] = lambda: None
        self.children = 0
        self._exit = os._exit
        self._our_exit = os._exit = self._leave_at_once

    # Recording

    def torch_is_here(self) -> None:
        """Torch has been imported: from now on, everything is recorded."""
        from trainlint.trace.supported import TooOld, require_torch

        try:
            require_torch()
            from trainlint.trace.session import Session
        except TooOld as error:
            self.give_up(str(error))
        except Exception:
            traceback.print_exc()
            self.give_up(_OWN_FAULT)
        self._session = Session(
            steps=self._steps,
            root=self._root,
            folder=self._folder,
            max_wait=self._max_wait,
            ended=self._enough,
            waiting=self.waits_for,
        )

    def waits_for(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a full disk must not end the program
            self._status.write_text(text)

    def _enough(self, how: str) -> NoReturn:
        """All that was asked for is recorded: write it down and end the program."""
        assert self._session is not None
        self._write(how)
        self.waits_for(ENDS)
        self._session.close(keep_mode=True)
        self._stop_for_good()
        raise Stop

    def _stop_for_good(self) -> None:
        """A program that catches everything and goes on is ended again at its next backward or step, and at last for good."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        stops = 0

        def again(*_: Any, **__: Any) -> NoReturn:
            nonlocal stops
            stops += 1
            if stops == _MOST_STOPS:
                sys.stdout.flush()
                self._exit(0)
            raise Stop

        backward = torch.autograd.backward
        torch.autograd.backward = again
        hook = register_optimizer_step_pre_hook(again)

        def let_go() -> None:
            torch.autograd.backward = backward
            hook.remove()

        self._let_go = let_go

    def _write(self, how: str, error: BaseException | None = None) -> None:
        """Write the recording, once. Does nothing in processes that the program has forked."""
        if self._is_over or os.getpid() != self._pid:
            return
        self._is_over = True
        try:
            if self._session is None:
                self._outcome.with_suffix(".none").write_text(f"{how}\n{_last_line(error)}\n{self.children}")
                return
            session = self._session
            session.recorder.is_on = False
            at = _where(session, error) if isinstance(error, Exception) else None
            said = _last_line(error)
            self._recorded = session.facts(how, error=said, at=at, children=self.children)
            self._keep(self._recorded)
        except Exception:
            traceback.print_exc()
            self._outcome.with_suffix(".refused").write_text(_OWN_FAULT)

    def _keep(self, recorded: Recorded) -> None:
        from trainlint.trace_file import dumped

        temporary = self._outcome.with_suffix(".part")
        temporary.write_text(dumped(recorded), encoding="utf-8")
        temporary.replace(self._outcome)

    def _look_further(self) -> None:
        """After the program, so that nothing in it notices: experiments on its models, and pictures of them."""
        if self._session is None or self._recorded is None or os.getpid() != self._pid:
            return
        from trainlint.trace.experiments import experiments
        from trainlint.trace.picture import pictures

        recorder = self._session.recorder
        with recorder.careful:
            extra = (*experiments(recorder), *pictures(recorder))
            self._keep(replace(self._recorded, seen=(*self._recorded.seen, *extra)))

    def give_up(self, message: str) -> NoReturn:
        """The program cannot be recorded at all."""
        self._outcome.with_suffix(".refused").write_text(message)
        self._is_over = True
        self._exit(2)
        raise SystemExit(2)

    def _leave_at_once(self, status: int) -> NoReturn:
        """The program's `os._exit`."""
        self._write("exited", SystemExit(status) if status else None)
        self._exit(status)
        raise SystemExit(status)

    def finish(self, how: str, error: BaseException | None = None) -> None:
        """The program has ended."""
        self._write(how, error)
        self._let_go()
        if os._exit is self._our_exit:
            os._exit = self._exit
        if self._session is not None:
            self._session.close(keep_mode=threading.current_thread() is not threading.main_thread())
        if how in ("recorded", "finished"):
            self._look_further()


class _TorchComes(importlib.abc.MetaPathFinder):
    """Waits for torch to be imported, and is gone then."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._looks = False

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" or self._looks:
            return None
        self._looks = True
        try:
            spec = find_spec("torch")
        finally:
            self._looks = False
        if spec is None or spec.loader is None:
            return spec
        loader = spec.loader
        run = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            loader.exec_module = run  # type: ignore[method-assign]
            run(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self._launch.torch_is_here()

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def main(arguments: Sequence[str]) -> None:
    """Run the program that the arguments name, as `child.py` says."""
    outcome, status, steps, max_wait, kind, target, *rest = arguments
    root = os.path.dirname(os.path.realpath(target)) if kind == "script" else None
    launch = Launch(Path(outcome), Path(status), int(steps), int(max_wait), root)
    launch.waits_for("torch to be imported")
    finder = _TorchComes(launch)
    sys.meta_path.insert(0, finder)
    sys.addaudithook(_children(launch))
    try:
        code, module = _script(target, rest) if kind == "script" else _module(target, rest)
        exec(code, module.__dict__)
    except Stop:
        launch.finish("recorded")
        raise SystemExit(0) from None
    except _Unrunnable as error:
        launch.give_up(str(error))
    except SystemExit as error:
        if error.code in (None, 0):
            launch.finish("finished")
        else:
            launch.finish("failed", error)
        error.__traceback__ = None
        raise
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        _clean(error)
        launch.finish("interrupted" if interrupted else "failed", error)
        _show(error)
        raise SystemExit(130 if interrupted else 1) from None
    else:
        launch.finish("finished")
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


class _Unrunnable(Exception):
    """There is no such program."""


def _script(target: str, rest: Sequence[str]) -> tuple[types.CodeType, types.ModuleType]:
    """The code of a script, and a fresh `__main__` for it; `sys` is as under `python`."""
    file = os.path.abspath(target)
    sys.argv = [target, *rest]
    if not _is_safe_path():
        sys.path[0] = os.path.dirname(os.path.realpath(target))
    module = _fresh_main()
    module.__file__ = file
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", file)
    module.__dict__["__cached__"] = None
    with open(target, "rb") as source:
        data = source.read()
    try:
        return compile(data, file, "exec", dont_inherit=True), module
    except (SyntaxError, ValueError) as error:
        _show(error.with_traceback(None))
        raise _Unrunnable(f"{target} cannot be compiled: {error}") from None


def _module(name: str, rest: Sequence[str]) -> tuple[types.CodeType, types.ModuleType]:
    """The code of a module, or of the `__main__` of a package, as `python -m` finds it."""
    if not _is_safe_path():
        sys.path[0] = os.getcwd()
    sys.argv = ["-m", *rest]
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = find_spec(name)
    except (ImportError, ValueError) as error:
        raise _Unrunnable(f"the module `{name}` cannot be found: {error}") from None
    loader = spec.loader if spec is not None else None
    try:
        code = getattr(loader, "get_code", lambda _: None)(name)
    except SyntaxError as error:
        _show(error.with_traceback(None))
        raise _Unrunnable(f"{error.filename} cannot be compiled: {error}") from None
    if spec is None or code is None:
        raise _Unrunnable(f"no module named `{name}` can be run")
    module = _fresh_main()
    made = vars(module_from_spec(spec))
    kept = {key: value for key, value in made.items() if key not in ("__name__", "__builtins__")}
    module.__dict__.update(kept)
    sys.argv[0] = spec.origin or name
    return code, module


def _fresh_main() -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    if sys.version_info < (3, 14):
        vars(module).update(__annotations__={})
    sys.modules["__main__"] = module
    return module


def _is_safe_path() -> bool:
    """Whether Python was told not to look for modules beside the program; `child.py` has added no path then."""
    return bool(getattr(sys.flags, "safe_path", False))


def _show(error: BaseException) -> None:
    """Show an exception as Python does at the end of a program."""
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as another:
        print("Error in sys.excepthook:", file=sys.stderr)
        _clean(another)
        traceback.print_exception(type(another), another, another.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        traceback.print_exception(type(error), error, error.__traceback__)


def _children(launch: Launch) -> Any:
    """Counts the processes that the program starts."""

    def hook(event: str, _: Any) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec", "os.spawn"):
            launch.children += 1

    return hook


def _clean(error: BaseException) -> None:
    """Take our own frames out of an exception and of all that belong to it."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _without_us(one.__traceback__)
        pending += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def _without_us(found: types.TracebackType | None) -> types.TracebackType | None:
    entries = []
    while found is not None:
        entries.append(found)
        found = found.tb_next
    result: types.TracebackType | None = None
    for one in reversed(unwatched(entries, lambda entry: entry.tb_frame)):
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
    entry = error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        if session.recorder.own.innermost(frame) is frame:
            path = session.recorder.own.shown(frame.f_code.co_filename)
            found = Place(path, entry.tb_lineno, 1, entry.tb_lineno, 1)
        entry = entry.tb_next
    return found
