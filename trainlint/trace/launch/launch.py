"""Run a program as Python would, with a recorder that comes in as soon as torch does. Imports no torch itself."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from trainlint.trace.launch.arrivals import Arrivals
from trainlint.trace.launch.asked import Asked
from trainlint.trace.launch.main_module import Unrunnable, of_module, of_script
from trainlint.trace.launch.started import Started
from trainlint.trace.launch.stop import ENDS, STOPPED, Stop
from trainlint.trace.launch.tracebacks import clean, last_line, show
from trainlint.trace.launch.unsaved import Unsaved

if TYPE_CHECKING:
    from trainlint.facts.model.recorded import Recorded
    from trainlint.trace.launch.session import Session

_OWN_FAULT = "trainlint's recorder failed, which is a bug: please report it with the lines above"

_MOST_STOPS = 10
"""How often a program may catch everything and go on."""


class Launch:
    """A program and its recording.

    Args:
        outcome: file that the recording is written to.
        status: file that says, in a few words, what the recording waits for.
    """

    def __init__(self, outcome: Path, status: Path, asked: Asked) -> None:
        self._outcome = outcome
        self._status = status
        self._asked = asked
        self._session: Session | None = None
        self._recorded: Recorded | None = None
        self._is_over = False
        self._pid = os.getpid()
        self._let_go: Callable[[], None] = lambda: None
        self._unsaved = Unsaved(str(outcome.parent))
        atexit.register(self.tell_unsaved)  # before anything of the program's, so that it comes last
        self.children = 0
        self._exit = os._exit
        self._our_exit = os._exit = self._leave_at_once

    # Recording

    def torch_is_here(self) -> None:
        """Torch has been imported: from now on, everything is recorded."""
        from trainlint.trace.launch.supported import TooOld, require_torch

        try:
            require_torch()
            from trainlint.trace.launch.session import Session
        except TooOld as error:
            self.give_up(str(error))
        except Exception:
            traceback.print_exc()
            self.give_up(_OWN_FAULT)
        asked = self._asked
        self._session = Session(
            steps=asked.steps,
            root=asked.root,
            folder=asked.folder,
            max_wait=asked.max_wait,
            ended=self.enough,
            waiting=self.waits_for,
            skip_steps=asked.skip_steps,
            phase=asked.phase,
            phase_seconds=asked.phase_seconds,
        )
        tape = self._session.recorder.tape
        tape.is_on, tape.keeps_begun = bool(asked.probes), "resume" in asked.probes

    @property
    def trains(self) -> bool:
        """Whether this process has computed gradients itself."""
        return self._session is not None and self._session.recorder.steps.backwards > 0

    def waits_for(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a full disk must not end the program
            self._status.write_text(text)

    def enough(self, how: str) -> NoReturn:
        """All that was asked for is recorded, here or in processes that were started here: write it down and end the
        program."""
        self._write(how)
        self._unsaved.begin()
        self._outcome.with_suffix(STOPPED).touch()
        self.waits_for(ENDS)
        if self._session is not None:
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
        trainer, join = threading.current_thread(), threading.Thread.join

        @functools.wraps(join)
        def joining(thread: threading.Thread, timeout: float | None = None) -> None:
            join(thread, timeout)
            if thread is trainer and not thread.is_alive():
                raise Stop

        threading.Thread.join = joining  # type: ignore[method-assign]

        def let_go() -> None:
            torch.autograd.backward = backward
            threading.Thread.join = join  # type: ignore[method-assign]
            hook.remove()

        self._let_go = let_go

    def _write(self, how: str, error: BaseException | None = None) -> None:
        """Write the recording, once. Does nothing in processes that the program has forked."""
        if self._is_over or os.getpid() != self._pid:
            return
        self._is_over = True
        try:
            if self._session is None:
                self._outcome.with_suffix(".none").write_text(f"{how}\n{last_line(error)}\n{self.children}")
                return
            session = self._session
            session.recorder.is_on = False
            at = _where(session, error) if isinstance(error, Exception) else None
            said = last_line(error)
            self._recorded = session.facts(how, error=said, at=at, children=self.children)
            self._keep(self._recorded)
        except Exception:
            traceback.print_exc()
            self._outcome.with_suffix(".refused").write_text(_OWN_FAULT)

    def _keep(self, recorded: Recorded) -> None:
        from trainlint.facts.trace_file import dumped

        temporary = self._outcome.with_suffix(".part")
        temporary.write_text(dumped(recorded), encoding="utf-8")
        temporary.replace(self._outcome)

    def _look_further(self) -> None:
        """After the program, so that nothing in it notices: experiments on its models, and pictures of them."""
        if self._session is None or self._recorded is None or os.getpid() != self._pid:
            return
        if not self._session.recorder.steps.awaits_next:
            self._experiment()
        if self._asked.probes:
            self._probe()

    def _experiment(self) -> None:
        """On the models of the last phase: those of the others have had theirs."""
        assert self._session is not None and self._recorded is not None
        from trainlint.trace.measure.experiments.all import experiments
        from trainlint.trace.measure.picture import pictures

        recorder = self._session.recorder
        with recorder.careful:
            self._recorded = self._recorded.extended((*experiments(recorder), *pictures(recorder)))
            self._keep(self._recorded)

    def _probe(self) -> None:
        """What somebody asked to be tried; the program's files stay as they are meanwhile."""
        assert self._session is not None and self._recorded is not None
        from trainlint.trace.measure.probes.all import probes

        self._unsaved.begin()
        recorder = self._session.recorder
        with recorder.careful:
            for tried in probes(
                recorder, self._asked.probes, self._asked.probe_seconds, self._recorded, self.waits_for
            ):
                self._recorded = self._recorded.extended((tried,))
                self._keep(self._recorded)
        self.waits_for(ENDS)

    def tell_unsaved(self) -> None:
        """What was not written while the program was ended, up to its last handlers."""
        if self._recorded is None or not self._unsaved.paths or os.getpid() != self._pid:
            return
        from trainlint.facts.seen.endings import NotWritten

        self._keep(self._recorded.extended(NotWritten(path) for path in self._unsaved.paths))

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


def main(arguments: Sequence[str]) -> None:
    """Run the program that the arguments name, as `child.py` says."""
    outcome, status, steps, max_wait, skip_steps, phase, patience, probes, seconds, kind, target, *rest = (
        arguments
    )
    asked = Asked(
        folder=os.getcwd(),
        root=os.path.dirname(os.path.realpath(target)) if kind == "script" else None,
        steps=int(steps),
        max_wait=int(max_wait),
        skip_steps=int(skip_steps),
        phase=int(phase) or None,
        phase_seconds=float(patience),
        probes=tuple(one for one in probes.split(",") if one),
        probe_seconds=float(seconds),
    )
    launch = Launch(Path(outcome), Path(status), asked)
    launch.waits_for("torch to be imported")
    started = Started(launch, asked, Path(outcome).parent)
    arrivals = Arrivals({"torch": lambda _: launch.torch_is_here(), "multiprocessing.process": started.patch})
    sys.addaudithook(_children(launch))
    try:
        code, module = of_script(target, rest) if kind == "script" else of_module(target, rest)
        exec(code, module.__dict__)
    except Stop:
        launch.finish("recorded")
        raise SystemExit(0) from None
    except Unrunnable as error:
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
        clean(error)
        launch.finish("interrupted" if interrupted else "failed", error)
        show(error)
        raise SystemExit(130 if interrupted else 1) from None
    else:
        launch.finish("finished")
    finally:
        arrivals.remove()


def _children(launch: Launch) -> Any:
    """Counts the processes that the program starts."""

    def hook(event: str, _: Any) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec", "os.spawn"):
            launch.children += 1

    return hook


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
