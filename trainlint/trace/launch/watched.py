"""A process that the program has started, recorded as the program itself is. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from trainlint.trace.launch.arrivals import Arrivals
from trainlint.trace.launch.asked import Asked
from trainlint.trace.launch.stop import DONE, Stop
from trainlint.trace.launch.tracebacks import clean


class Watched:
    """What a process is to do, handed to it in the place of that: it is called there, under a recorder.

    Args:
        call: what the program has given to the process.
        outcome: file that the recording is written to.
    """

    def __init__(self, call: Callable[..., Any], asked: Asked, outcome: Path) -> None:
        self._call = call
        self._asked = asked
        self._outcome = outcome

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from trainlint.trace.launch.launch import Launch

        launch = Launch(self._outcome, self._outcome.with_suffix(".status"), self._asked)
        arrivals = Arrivals({"torch": lambda _: launch.torch_is_here()})
        try:
            returned = self._call(*args, **kwargs)
        except Stop:
            launch.finish("recorded")
            return None
        except SystemExit as error:
            launch.finish("finished" if error.code in (None, 0) else "failed", error)
            raise
        except BaseException as error:
            clean(error)
            launch.finish("interrupted" if isinstance(error, KeyboardInterrupt) else "failed", error)
            raise
        else:
            launch.finish("finished")
            return returned
        finally:
            arrivals.remove()
            launch.tell_unsaved()  # a process that was forked calls no handler at its end
            self._outcome.with_suffix(DONE).touch()
