"""Recordings that are made up, for reports of them."""

from __future__ import annotations

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.endings import Ending
from trainlint.facts.seen.gradients import Gradient
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.tensors import Spread

_INSIDE = ("norm", "query", "key", "value", "out", "up", "activation", "down", "dropout")


def big_model(modules: int, *, alike: bool) -> Recorded:
    """A model of so many modules, in blocks of ten that are equal, or of which no two have the same width."""
    seen: list[object] = [_module("", 0, (), model=True)]
    for number in range(modules // (len(_INSIDE) + 1)):
        width = 64 if alike else 64 + number
        seen.append(_module(f"blocks.{number}", number * 10, (width,)))
        for place, name in enumerate(_INSIDE):
            path = f"blocks.{number}.{name}"
            seen.append(_module(path, number * 10 + place, (width,)))
            if name not in ("activation", "dropout"):
                seen += [_parameter(path, "weight", number * 10 + place, (width, width), number)]
                seen += [_parameter(path, "bias", number * 10 + place, (width,), number)]
    ending = Ending("recorded", 1, 1, 1)
    return Recorded(
        "train.py", "program", seen=tuple(seen), ending=ending, argv=("train.py",), torch="2.13.0"
    )


def _module(path: str, order: int, output: tuple[int, ...], *, model: bool = False) -> ModuleSeen:
    return ModuleSeen(
        path=path,
        type="Model" if model else "Block" if path.count(".") == 1 else "torch.nn.Linear",
        model="Model",
        at=None,
        order=order,
        calls=1,
        parameters=0,
        training=True,
        output=(8, 128, *output),
        spread=Spread(0.01 * order, 1.0, -4.0, 4.0),
        seconds=1e-4,
    )


def _parameter(module: str, name: str, order: int, shape: tuple[int, ...], number: int) -> ParameterSeen:
    return ParameterSeen(
        name=f"{module}.{name}",
        module=module,
        module_type="torch.nn.Linear",
        at=None,
        order=order,
        shape=shape,
        dtype="float32",
        device="cpu",
        trainable=True,
        optimizers=(0,),
        stepped=True,
        start=Spread(0.0, 0.02, -0.1, 0.1),
        gradient=Gradient(0.001 * (number + 1), 0.01, 0.0, 0),
        expected=True,
        update=0.001,
        unchanged=False,
        rate=1e-3,
        reached=True,
        alive=True,
    )
