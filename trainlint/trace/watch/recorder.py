"""What happens in a run, written down as it happens: the log of events and facts, and the parts that write into it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import torch
from torch.overrides import TorchFunctionMode

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.values import Object
from trainlint.finding import Place
from trainlint.notebook.kernel import Kernel
from trainlint.trace.measure.batches import BatchSize
from trainlint.trace.measure.pace import Clock
from trainlint.trace.watch.ahead import Site
from trainlint.trace.watch.autocast import Autocast
from trainlint.trace.watch.careful import Careful
from trainlint.trace.watch.clipping import Clipping
from trainlint.trace.watch.direct_forward import DirectForward
from trainlint.trace.watch.graph import Graph
from trainlint.trace.watch.graphs_kept import graphs_kept
from trainlint.trace.watch.loaders import Loaders
from trainlint.trace.watch.log import Log
from trainlint.trace.watch.loss_calls import LossCalls
from trainlint.trace.watch.made_in_forward import MadeInForward
from trainlint.trace.watch.masks import Masks
from trainlint.trace.watch.models import Models
from trainlint.trace.watch.module_calls import ModuleCalls
from trainlint.trace.watch.module_lives import ModuleLives
from trainlint.trace.watch.non_finite import FirstNonFinite
from trainlint.trace.watch.objects import Objects
from trainlint.trace.watch.operations import Operations
from trainlint.trace.watch.own_code import OwnCode
from trainlint.trace.watch.phases import Phases
from trainlint.trace.watch.ranks import Ranks
from trainlint.trace.watch.resumes import Resumes
from trainlint.trace.watch.scaled_together import scaled_together
from trainlint.trace.watch.scalers import Scalers
from trainlint.trace.watch.schedules import Schedules
from trainlint.trace.watch.shifts import Shifts
from trainlint.trace.watch.states import States
from trainlint.trace.watch.steps import Steps
from trainlint.trace.watch.tape import Tape
from trainlint.trace.watch.texts import Texts
from trainlint.trace.watch.timeline import Timeline

E = TypeVar("E", bound=Event)

_UNSEEDED = 67280421310721
"""What torch's generator begins with where nobody has set a seed."""

_MOST_FACTS = 4
"""Facts of one kind at one place that are kept: the first."""


class Recorder:
    """One recording, in one process and one thread.

    Args:
        steps: how many optimizer steps to record.
        root: a folder whose files are the program's own even where it lies among libraries.
        folder: the working directory that the program was started in.
        max_wait: how many backward passes to wait for an optimizer's step.
        ended: called once, when all that was asked for is recorded; None to just stop recording.
        waiting: told, in a few words, what the recording waits for.
        skip_steps: optimizer steps to let go by first.
        phase: which phase to record: each ends when its optimizers have stepped often enough, and the next one begins
            with another optimizer. None for each, as long as the program has another optimizer to build.
        phase_seconds: how long to go on for the next phase, where each is recorded.
        phase_over: called with where the program will build another optimizer, when all of a phase is recorded and the
            next one is waited for.
        steps_before: optimizer steps that were taken before anything is recorded.
        kernel: the notebook that runs.
    """

    def __init__(
        self,
        *,
        steps: int = 1,
        root: str | None = None,
        folder: str | None = None,
        max_wait: int = 100,
        ended: Callable[[str], None] | None = None,
        waiting: Callable[[str], None] | None = None,
        skip_steps: int = 0,
        phase: int | None = 1,
        phase_seconds: float = 0.0,
        phase_over: Callable[[Site], None] = lambda _: None,
        steps_before: int = 0,
        kernel: Kernel | None = None,
    ) -> None:
        self.phase_over = phase_over
        self.is_on = False
        self.how = ""
        self.steps_before = steps_before
        self.has_forgotten = bool(steps_before)
        """Whether the recording begins later than the training."""
        self.within_torch = False
        """Whether an optimizer of torch's is stepping: what it does to each parameter is nobody's operation."""
        self._thread = threading.get_ident()
        self._ended = ended
        self._waiting = waiting
        self._phase = ""
        self._held: list[torch.optim.Optimizer] = []
        """Optimizers that an experiment tries when the program has let go of them."""
        self.modes: dict[int, TorchFunctionMode] = {}
        """Through which torch's functions are seen, by thread."""

        self.log = Log()
        self.facts: list[Any] = []
        self.lines: set[tuple[str, int]] = set()
        self._fact_counts: dict[Any, int] = {}

        self.careful = Careful(self.facts)
        self.own = OwnCode(root, folder, kernel)
        self._own_classes: dict[type, bool] = {}
        self.objects = Objects(self.is_own_class)
        self.graph = Graph()
        self.graph.modules = self.objects.by_module

        self.operations = Operations(self)
        self.modules = ModuleCalls(self)
        self.lives = ModuleLives(self)
        self.made_in_forward = MadeInForward(self)
        self.direct = DirectForward(self)
        self.models = Models(self)
        self.losses = LossCalls(self)
        self.non_finite = FirstNonFinite(self)
        self.masks = Masks(self)
        self.shifts = Shifts(self)
        self.steps = Steps(self, steps, max_wait, Phases(skip_steps, phase, phase_seconds))
        self.clipping = Clipping(self)
        self.ranks = Ranks(self)
        self.clock = Clock()
        self.autocast = Autocast(self)
        self.scalers = Scalers(self)
        self.states = States(self)
        self.resumes = Resumes(self)
        self.schedules = Schedules(self)
        self.loaders = Loaders(self)
        self.batch = BatchSize(self.graph)
        self.texts = Texts(self)
        self.timeline = Timeline(self)
        self.tape = Tape(self)

    # The state of the recording

    @property
    def listens(self) -> bool:
        """Whether what happens now belongs to the recording."""
        return (
            self.is_on
            and not self.is_in_another_thread
            and not torch._C._is_tracing()  # by torch.jit: it would write our doings down too
        )

    @property
    def is_in_another_thread(self) -> bool:
        """Whether the present thread is not the one that is recorded."""
        return threading.get_ident() != self._thread

    @property
    def is_seeded(self) -> bool:
        """Whether the program has set torch's seed."""
        return torch.initial_seed() != _UNSEEDED

    @property
    def mode(self) -> TorchFunctionMode | None:
        """Through which torch's functions are seen in this thread."""
        return self.modes.get(threading.get_ident())

    def begin(self, mode: TorchFunctionMode) -> None:
        """All is in place."""
        self.modes[self._thread] = mode
        self.is_on = True

    def follows(self) -> bool:
        """Whether what this thread does with models is recorded: it is from now on, unless another one trains, or calls a
        model now."""
        is_free = self.modules.outermost is None and not self.steps.backwards
        if self.is_in_another_thread and self.mode is not None and is_free:
            self._thread = threading.get_ident()
        return self.listens

    def end(self, how: str) -> None:
        """Stop listening, for good."""
        if self.how:
            return
        if how == "recorded":
            self._look_at_what_is_held()
            self._held = [
                optimizer for known, optimizer in self.steps.working() if known.began and known.steps
            ]
        self.how = how
        self.is_on = False
        if self._ended is not None:
            self._ended(how)

    def _look_at_what_is_held(self) -> None:
        """The program still holds its data, and perhaps losses of earlier steps."""
        frame = self.frame(2)
        with self.careful, self.aside():
            found = scaled_together(self, frame)
            if found is not None:
                self.fact(found, found.at)
            for kept in graphs_kept(self, frame, self.steps.under_way.last_value):
                self.fact(kept, kept.at)

    def forget(self) -> None:
        """Start again, after steps or a phase that nobody wants to see."""
        self.has_forgotten = True
        self.log.forget()
        self.facts.clear()
        self._fact_counts.clear()
        self.lines.clear()
        self.lives = ModuleLives(self)
        self.masks = Masks(self)
        self.losses = LossCalls(self)
        self.clock = Clock()
        self.ranks.forget()
        self.models.called.clear()
        self.models.inputs.clear()

    def forked(self) -> None:
        """This is another process now, such as a loader's worker."""
        self.is_on = False
        self.how = self.how or "forked"
        self._ended = None

    def phase(self, text: str) -> None:
        if text != self._phase:
            self._phase = text
            if self._waiting is not None:
                self._waiting(text)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do something with tensors that is not the program's doing."""
        with torch._C.DisableTorchFunction(), torch.no_grad():
            yield

    # Places

    def frame(self, depth: int = 1) -> FrameType | None:
        """The program's frame that is running, above the caller."""
        return self.own.innermost(sys._getframe(depth + 1))

    def at(self, frame: FrameType | None) -> Place | None:
        """Where the program is: the line of its own that is running, or the layer that a container called."""
        if frame is None:
            return None
        made = self.modules.place_of_layer(frame)
        place = made if made is not None else self.own.place(frame)
        self.lines.add((place.path, place.line))
        return place

    # Events and facts

    @property
    def events(self) -> list[Event]:
        """What has happened, in order, as far as it is kept."""
        return [event for event in self.log.events if event is not None]

    def emit(self, kind: type[E], frame: FrameType | None, about: object = None, **fields: Any) -> E | None:
        """Something happened."""
        place = self.at(frame)
        if place is None:
            return None
        event = kind(at=place, calls=self.own.calls(frame), autocast=self.autocast.open, **fields)
        self.lines.update((call.path, call.line) for call in event.calls)
        subject: object = id(about)
        if isinstance(about, Object) and about.is_a(OPTIMIZER) and kind is not Built:
            subject = about.at  # those that one place builds, one after the other, act as one
        self.log.add((kind, place, subject), event)
        return event

    def fact(self, fact: Any, key: object) -> None:
        """A fact of the step. Of those with one key, the first are kept."""
        count = self._fact_counts.get((type(fact), key), 0)
        if count < _MOST_FACTS:
            self._fact_counts[type(fact), key] = count + 1
            self.facts.append(fact)

    def wants(self, kind: type, key: object) -> bool:
        """Whether another fact of a kind would be kept."""
        return self._fact_counts.get((kind, key), 0) < _MOST_FACTS

    # Classes

    def is_own_class(self, kind: type) -> bool:
        known = self._own_classes.get(kind)
        if known is None:
            module = sys.modules.get(kind.__module__)
            file = getattr(module, "__file__", None)
            known = True if kind.__module__ == "__main__" else file is not None and self.own.is_own_file(file)
            self._own_classes[kind] = known
        return known
