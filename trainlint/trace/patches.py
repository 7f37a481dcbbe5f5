"""Where the recorder stands in torch and in tokenizers: their entry points, wrapped while a recording lasts and put
back after it."""

from __future__ import annotations

import functools
import os
import re
import sys
import time
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils.data import dataloader

from trainlint.facts import events as ev
from trainlint.facts import step as seen_facts
from trainlint.facts.torch_api import CONVERSIONS, DEPRECATED_AMP
from trainlint.facts.values import Constant, Items, Named
from trainlint.trace.arrivals import Arrivals
from trainlint.trace.function_mode import FunctionMode
from trainlint.trace.graph import tensors
from trainlint.trace.hidden import hidden
from trainlint.trace.objects import unwrapped
from trainlint.trace.replacements import Replacements
from trainlint.trace.warned import moved

if TYPE_CHECKING:
    from trainlint.trace.recorder import Recorder

_DEPRECATED = re.compile(r"`(torch\.(?:cuda|cpu)\.amp\.\w+)")
_TRANSPARENT = ("__init__", "__call__")


class Installed:
    """The recorder in place, until `remove`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._replaced = Replacements()
        self._mode = recorder.mode = FunctionMode(recorder)
        self._hooks = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
        ]
        replace = self._replaced.replace
        replace(torch.nn.Module, "__call__", self._module_call)
        replace(torch.nn.Module, "__init__", self._module_init)
        replace(torch.nn.Module, "train", self._train)
        replace(torch.nn.Module, "zero_grad", self._zero_grad)
        replace(torch.nn.Module, "to", self._to)
        for name, dtype in CONVERSIONS.items():
            replace(torch.nn.Module, name, functools.partial(self._convert, dtype))
        replace(torch.nn.Module, "parameters", self._parameters)
        replace(torch.nn.Module, "load_state_dict", self._load_state_dict)
        replace(torch.nn.Module, "state_dict", self._state_dict)
        replace(torch, "save", self._save)
        replace(torch.optim.Optimizer, "__init__", self._optimizer_init)
        replace(torch.optim.Optimizer, "load_state_dict", self._optimizer_load)
        replace(torch.optim.lr_scheduler.LRScheduler, "__init__", self._scheduler_init)
        replace(torch.optim.Optimizer, "zero_grad", self._zero_grad)
        replace(torch.autograd, "backward", self._backward)
        replace(torch.autograd, "grad", self._autograd_grad)
        schedulers = torch.optim.lr_scheduler
        for scheduler_class in vars(schedulers).values():
            if isinstance(scheduler_class, type) and "step" in vars(scheduler_class):
                replace(scheduler_class, "step", self._scheduler_step)
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            for module in (torch.nn.utils.clip_grad, torch.nn.utils):
                replace(module, name, self._clip)
        scaler = torch.amp.grad_scaler.GradScaler
        replace(scaler, "__init__", self._scaler_init)
        replace(scaler, "step", self._scaler_step)
        replace(scaler, "unscale_", self._unscale)
        replace(scaler, "scale", self._scale)
        replace(scaler, "update", self._scale_update)
        replace(torch.utils.data.DataLoader, "__init__", self._loader_init)
        replace(torch.utils.data.DataLoader, "__iter__", self._loader_iter)
        replace(torch.utils.data.distributed.DistributedSampler, "set_epoch", self._set_epoch)
        replace(dataloader._BaseDataLoaderIter, "__next__", self._loader_next)
        replace(torch.autocast, "__enter__", self._autocast)
        replace(torch.autocast, "__exit__", self._autocast_exit)
        replace(torch, "compile", self._compile)
        replace(warnings, "_showwarnmsg", self._show_warning)
        self._arrivals = Arrivals(
            {"tokenizers": self._tokenizers, "transformers.tokenization_utils_base": self._transformers}
        )
        os.register_at_fork(after_in_child=_forgetful(recorder))
        self._mode.__enter__()  # type: ignore[no-untyped-call]
        recorder.is_on = True

    def remove(self) -> None:
        """Leave no hook, patch or mode behind."""
        self._recorder.is_on = False
        self._mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        self.unhook()

    def unhook(self) -> None:
        """Take out everything but the mode, which others may stand upon."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        self._arrivals.remove()
        self._replaced.undo()

    # Modules

    def _module_call(self, original: Any) -> Any:
        recorder = self._recorder

        def __call__(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if not recorder.listens:
                return original(module, *args, **kwargs)
            if _is_compiled(module):
                return self._unwatched(recorder.modules.call, original, module, args, kwargs)
            return recorder.modules.call(original, module, args, kwargs)

        return _like(__call__, original)

    def _module_init(self, original: Any) -> Any:
        recorder = self._recorder

        def __init__(module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
            original(module, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    frame = sys._getframe(1)
                    while (
                        frame.f_back is not None
                        and frame.f_code.co_name in _TRANSPARENT
                        and frame.f_locals.get(
                            frame.f_code.co_varnames[0] if frame.f_code.co_varnames else ""
                        )
                        in (module, None)
                    ):
                        frame = frame.f_back
                    maker = recorder.own.innermost(frame)
                    recorder.objects.made(module, recorder.at(maker))
                    recorder.modules.made(module, maker)

        return _like(__init__, original)

    def _train(self, original: Any) -> Any:
        recorder, depth = self._recorder, [0]

        def train(module: torch.nn.Module, mode: bool = True) -> torch.nn.Module:
            if not recorder.listens:
                return original(module, mode)  # type: ignore[no-any-return]
            depth[0] += 1
            try:
                result = original(module, mode)
            finally:
                depth[0] -= 1
            if depth[0] == 0:
                with recorder.careful:
                    about = self._named(module)
                    recorder.emit(ev.ModeChange, recorder.frame(), about, module=about, training=bool(mode))
            return result  # type: ignore[no-any-return]

        return _like(train, original)

    def _to(self, original: Any) -> Any:
        recorder = self._recorder

        def to(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            result = original(module, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    about = self._named(module)
                    device = next(
                        (one for one in (*args, *kwargs.values()) if isinstance(one, (str, torch.device))),
                        None,
                    )
                    if device is not None:
                        recorder.emit(
                            ev.Moved, recorder.frame(), about, what=about, device=Constant(value=str(device))
                        )
                    dtype = next(
                        (one for one in (*args, *kwargs.values()) if isinstance(one, torch.dtype)), None
                    )
                    if dtype is not None:
                        named = Named(name=str(dtype))
                        recorder.emit(ev.Converted, recorder.frame(), about, module=about, dtype=named)
            return result

        return _like(to, original)

    def _convert(self, dtype: str, original: Any) -> Any:
        recorder = self._recorder

        def convert(module: torch.nn.Module) -> torch.nn.Module:
            result = original(module)
            if recorder.listens:
                with recorder.careful:
                    about, wanted = self._named(module), Named(name=f"torch.{dtype}")
                    recorder.emit(ev.Converted, recorder.frame(), about, module=about, dtype=wanted)
            return result  # type: ignore[no-any-return]

        return _like(convert, original)

    def _parameters(self, original: Any) -> Any:
        recorder = self._recorder

        def parameters(module: torch.nn.Module, recurse: bool = True) -> Any:
            if recorder.listens:
                with recorder.careful:
                    caller = sys._getframe(1)
                    if recorder.own.innermost(caller) is caller:
                        self._named(module)
            return original(module, recurse)

        return _like(parameters, original)

    def _load_state_dict(self, original: Any) -> Any:
        recorder = self._recorder

        def load_state_dict(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            result = original(module, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    about, frame = self._named(module), recorder.frame()
                    recorder.emit(ev.ModuleChanged, frame, about, module=about, what="load_state_dict")
                    recorder.states.loaded(module, args, kwargs, result, frame)
            return result

        return _like(load_state_dict, original)

    def _state_dict(self, original: Any) -> Any:
        recorder, depth = self._recorder, [0]

        def state_dict(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            depth[0] += 1
            try:
                result = original(module, *args, **kwargs)
            finally:
                depth[0] -= 1
            if recorder.listens and depth[0] == 0:
                with recorder.careful:
                    recorder.states.taken(module, result, recorder.frame())
            return result

        return _like(state_dict, original)

    def _save(self, original: Any) -> Any:
        recorder = self._recorder

        def save(value: Any, *args: Any, **kwargs: Any) -> None:
            original(value, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    recorder.states.saved(value, recorder.frame())

        return _like(save, original)

    def _named(self, module: torch.nn.Module) -> Any:
        model = unwrapped(module)
        self._recorder.modules.named[id(model)] = weakref.ref(model)
        return self._recorder.objects.of(model)

    def _compile(self, original: Any) -> Any:
        """A function that torch compiles is one operation: nothing inside it is watched."""
        recorder = self._recorder

        def compile(model: Any = None, **kwargs: Any) -> Any:
            if model is None:
                return lambda function: compile(function, **kwargs)
            if not recorder.is_on:
                return original(model, **kwargs)
            result = self._unwatched(original, model, **kwargs)
            if isinstance(model, torch.nn.Module):
                return result

            @functools.wraps(result)
            def compiled(*args: Any, **options: Any) -> Any:
                return (
                    self._unwatched(result, *args, **options)
                    if recorder.listens
                    else result(*args, **options)
                )

            return compiled

        return _like(compile, original)

    def _unwatched(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call something with torch as it is when nobody watches."""
        call = vars(torch.nn.Module)["__call__"]
        torch.nn.Module.__call__ = torch.nn.Module._wrapped_call_impl  # type: ignore[method-assign]
        try:
            with hidden(self._mode):
                return function(*args, **kwargs)
        finally:
            torch.nn.Module.__call__ = call  # type: ignore[method-assign]

    # Optimizers

    def _optimizer_init(self, original: Any) -> Any:
        recorder = self._recorder

        def __init__(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    recorder.steps.optimizer_made(optimizer, recorder.frame())

        return _like(__init__, original)

    def _optimizer_load(self, original: Any) -> Any:
        recorder = self._recorder

        def load_state_dict(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
            result = original(optimizer, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    recorder.resumes.loaded(optimizer, recorder.frame())
            return result

        return _like(load_state_dict, original)

    def _scheduler_init(self, original: Any) -> Any:
        recorder = self._recorder

        def __init__(scheduler: Any, *args: Any, **kwargs: Any) -> None:
            original(scheduler, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    frame = recorder.frame()
                    recorder.steps.scheduler_made(scheduler, frame)
                    recorder.resumes.scheduler_made(scheduler, frame)

        return _like(__init__, original)

    def _before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self._recorder.listens:
            with self._recorder.careful:
                self._recorder.resumes.before_step(optimizer)
                self._recorder.steps.before_step(optimizer, _has_closure(args, kwargs))

    def _after_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self._recorder.listens:
            with self._recorder.careful:
                self._recorder.steps.after_step(optimizer, _has_closure(args, kwargs))

    def _scheduler_step(self, original: Any) -> Any:
        """Schedulers step others, and themselves when they are made: only what the program calls counts."""
        recorder = self._recorder

        def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(scheduler, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    caller = sys._getframe(1)
                    if recorder.own.innermost(caller) is caller:
                        told = next(iter((*args, *kwargs.values())), None)
                        recorder.steps.scheduler_stepped(scheduler, told, caller)
            return result

        return _like(step, original)

    def _zero_grad(self, original: Any) -> Any:
        recorder = self._recorder

        def zero_grad(target: Any, *args: Any, **kwargs: Any) -> None:
            original(target, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    about = recorder.objects.of(target)
                    told = args[0] if args else kwargs.get("set_to_none")
                    recorder.emit(
                        ev.ZeroGrad,
                        recorder.frame(),
                        about,
                        target=about,
                        to_none=Constant(value=told) if told is not None else None,
                    )

        return _like(zero_grad, original)

    # Gradients

    def _backward(self, original: Any) -> Any:
        recorder = self._recorder

        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            if not recorder.listens:
                recorder.steps.backward_unheard()
                return original(tensors, *args, **kwargs)  # type: ignore[no-any-return]
            losses = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
            with recorder.careful:
                retains = args[1] if len(args) > 1 else kwargs.get("retain_graph")
                recorder.steps.before_backward(losses, recorder.frame(), retains)
            try:
                original(tensors, *args, **kwargs)
            except Exception as error:
                with recorder.careful:
                    recorder.failed("backward", losses, {}, error)
                raise
            if recorder.listens:
                with recorder.careful:
                    recorder.steps.after_backward()
            return None

        return _like(backward, original)

    def _autograd_grad(self, original: Any) -> Any:
        recorder = self._recorder

        def grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            if recorder.listens:
                with recorder.careful:
                    frame = recorder.frame()
                    recorder.emit(ev.ParametersRead, frame, None, target=recorder.graph.value(outputs))
            return original(outputs, inputs, *args, **kwargs)

        return _like(grad, original)

    def _clip(self, original: Any) -> Any:
        recorder = self._recorder

        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            limit = args[0] if args else kwargs.get("max_norm")
            if recorder.listens and limit != float("inf"):
                if not isinstance(parameters, torch.Tensor):
                    parameters = list(parameters)
                with recorder.careful:
                    held = [recorder.graph.value(one) for one in tensors(parameters)]
                    recorder.emit(
                        ev.Clip,
                        recorder.frame(),
                        None,
                        parameters=Items(items=held),
                        optimizer=recorder.steps.holder_of(tensors(parameters)),
                    )
            return original(parameters, *args, **kwargs)

        return _like(clip, original)

    def _scaler_init(self, original: Any) -> Any:
        recorder = self._recorder

        def __init__(scaler: Any, *args: Any, **kwargs: Any) -> None:
            original(scaler, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    frame = recorder.own.innermost(sys._getframe(1))
                    asked = args[5] if len(args) > 5 else kwargs.get("enabled", True)
                    recorder.scalers.made(scaler, frame, bool(asked))

        return _like(__init__, original)

    def _scaler_step(self, original: Any) -> Any:
        recorder = self._recorder

        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.listens:
                return original(scaler, optimizer, *args, **kwargs)
            steps = recorder.steps
            known = steps.of(optimizer)
            before, recorder.scalers.at_work = known.steps, scaler
            try:
                result = original(scaler, optimizer, *args, **kwargs)
            finally:
                recorder.scalers.at_work = None
            if recorder.listens:
                with recorder.careful:
                    recorder.scalers.stepped(scaler, optimizer, before)
            return result

        return _like(step, original)

    def _scale(self, original: Any) -> Any:
        recorder = self._recorder

        def scale(scaler: Any, outputs: Any) -> Any:
            if not recorder.listens:
                return original(scaler, outputs)
            before = [recorder.graph.of(one) for one in tensors(outputs)]
            result = original(scaler, outputs)
            with recorder.careful:
                for value, tensor in zip(before, tensors(result), strict=False):
                    recorder.scalers.scaled(scaler, value, tensor, recorder.frame())
            return result

        return _like(scale, original)

    def _scale_update(self, original: Any) -> Any:
        recorder = self._recorder

        def update(scaler: Any, new_scale: Any = None) -> None:
            original(scaler, new_scale)
            if recorder.listens:
                with recorder.careful:
                    to = recorder.graph.value(new_scale) if new_scale is not None else None
                    about = recorder.objects.of(scaler)
                    recorder.emit(ev.ScaleUpdate, recorder.frame(), about, scaler=about, to=to)

        return _like(update, original)

    def _unscale(self, original: Any) -> Any:
        recorder = self._recorder

        def unscale_(scaler: Any, optimizer: Any) -> Any:
            result = original(scaler, optimizer)
            if recorder.listens:
                with recorder.careful:
                    recorder.emit(
                        ev.Unscale,
                        recorder.frame(),
                        None,
                        scaler=recorder.objects.of(scaler),
                        optimizer=recorder.objects.of(optimizer),
                    )
            return result

        return _like(unscale_, original)

    # Data

    def _loader_init(self, original: Any) -> Any:
        recorder = self._recorder

        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(loader, *args, **kwargs)
            except ValueError:
                if recorder.listens:
                    with recorder.careful:
                        recorder.loaders.refused(loader, args, kwargs, recorder.frame())
                raise
            if recorder.listens:
                with recorder.careful:
                    recorder.loaders.made(loader, recorder.frame())

        return _like(__init__, original)

    def _loader_iter(self, original: Any) -> Any:
        recorder = self._recorder

        def __iter__(loader: Any) -> Any:
            iterator = original(loader)
            if recorder.listens:
                with recorder.careful:
                    recorder.loaders.begun(loader, iterator)
            return iterator

        return _like(__iter__, original)

    def _set_epoch(self, original: Any) -> Any:
        recorder = self._recorder

        def set_epoch(sampler: Any, *args: Any, **kwargs: Any) -> None:
            original(sampler, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    recorder.emit(ev.Called, recorder.frame(), name="set_epoch")

        return _like(set_epoch, original)

    def _loader_next(self, original: Any) -> Any:
        recorder = self._recorder

        def __next__(iterator: Any) -> Any:
            asked = time.perf_counter()
            batch = original(iterator)
            if recorder.listens:
                with recorder.careful:
                    recorder.loaders.drawn(iterator, batch, asked, recorder.frame())
                    recorder.batch.of_loader(tensors(batch), _samples_of(iterator))
            return batch

        return _like(__next__, original)

    # Texts

    def _tokenizers(self, library: Any) -> None:
        """Where the library `tokenizers` turns texts into tokens, for itself and for transformers."""
        for name in ("encode", "encode_batch"):
            self._replaced.replace(getattr(library, "Tokenizer", None), name, self._encode)

    def _transformers(self, library: Any) -> None:
        tokenizer = getattr(library, "PreTrainedTokenizerBase", None)
        for name in ("__call__", "encode", "encode_plus", "batch_encode_plus"):
            self._replaced.replace(tokenizer, name, self._tokenize)

    def _encode(self, original: Any) -> Any:
        recorder, is_batch = self._recorder, original.__name__ == "encode_batch"

        def encode(tokenizer: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(tokenizer, *args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    given = args[0] if args else next(iter(kwargs.values()))
                    position = 1 if is_batch else 2
                    words = args[position] if len(args) > position else kwargs.get("is_pretokenized")
                    if not is_batch:
                        pair = args[1] if len(args) > 1 else kwargs.get("pair")
                        given, result_of = [given if pair is None else None], [result]
                    else:
                        result_of = result
                    recorder.texts.encoded(tokenizer, given, result_of, bool(words), recorder.frame())
            return result

        return _like(encode, original)

    def _tokenize(self, original: Any) -> Any:
        recorder = self._recorder

        def tokenize(tokenizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.listens:
                return original(tokenizer, *args, **kwargs)
            with recorder.texts.inside(tokenizer, bool(kwargs.get("return_overflowing_tokens"))) as is_first:
                result = original(tokenizer, *args, **kwargs)
            if is_first and recorder.listens and not tokenizer.is_fast:
                with recorder.careful:
                    given = args[0] if args else kwargs.get("text", kwargs.get("batch_text_or_text_pairs"))
                    if not kwargs.get("is_split_into_words"):
                        recorder.texts.encoded_slowly(tokenizer, given, result, recorder.frame())
            return result

        return _like(tokenize, original)

    # The rest

    def _autocast(self, original: Any) -> Any:
        recorder = self._recorder

        def __enter__(region: Any) -> Any:
            result = original(region)
            if recorder.listens:
                with recorder.careful:
                    recorder.autocast_begins(region, recorder.frame())
            return result

        return _like(__enter__, original)

    def _autocast_exit(self, original: Any) -> Any:
        recorder = self._recorder

        def __exit__(region: Any, *exception: Any) -> Any:
            recorder.autocast_ends(region)
            return original(region, *exception)

        return _like(__exit__, original)

    def _show_warning(self, original: Any) -> Any:
        """Warnings come from where they would come from without us, and are facts, unless the program catches them."""
        recorder, shown, moving = self._recorder, getattr(warnings, "_showwarnmsg_impl", None), [False]

        def _showwarnmsg(message: Any) -> None:
            if not moving[0]:
                moving[0] = True
                try:
                    if moved(message):
                        return
                finally:
                    moving[0] = False
            if recorder.listens and getattr(warnings, "_showwarnmsg_impl", None) is shown:
                with recorder.careful:
                    self._warned(message)
            original(message)

        return _like(_showwarnmsg, original)

    def _warned(self, message: Any) -> None:
        recorder = self._recorder
        frame = recorder.frame()
        place, text = recorder.at(frame), str(message.message)
        recorder.fact(seen_facts.Warned(place, message.category.__name__, text), (place, text))
        if text.startswith("torch.utils.checkpoint: the use_reentrant"):
            recorder.emit(ev.Called, frame, text, name="torch.utils.checkpoint.checkpoint")
        deprecated = _DEPRECATED.search(text)
        if deprecated and deprecated[1] in DEPRECATED_AMP:
            recorder.emit(ev.LibraryCall, frame, deprecated[1], name=deprecated[1], text=deprecated[1])


def _forgetful(recorder: Recorder) -> Callable[[], None]:
    """Python never lets go of what is to be called at a fork; it must not hold the recorder."""
    held = weakref.ref(recorder)

    def forked() -> None:
        found = held()
        if found is not None:
            found.forked()

    return forked


def _samples_of(iterator: Any) -> int | None:
    """How many samples a loader puts into a batch, where there are enough; None where it leaves that to others."""
    size = getattr(getattr(iterator, "_index_sampler", None), "batch_size", None)
    if not isinstance(size, int):
        return None
    try:
        return min(size, len(iterator._dataset))
    except (TypeError, NotImplementedError):  # an iterable dataset has no length
        return size


def _like(wrapper: Any, original: Any) -> Any:
    return functools.update_wrapper(wrapper, original)


def _is_compiled(module: torch.nn.Module) -> bool:
    return (
        type(module).__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None) is not None
    )


def _has_closure(args: Any, kwargs: Any) -> bool:
    """Hooks are handed the optimizer itself first, then what `step` was given."""
    given = args[1] if len(args) > 1 else kwargs.get("closure")
    return callable(given)
