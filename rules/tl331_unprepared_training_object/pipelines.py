"""Pipelines of diffusers that are handed to `prepare`, which only knows the modules in them one by one."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.model.events.frameworks import Prepared
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.finding import Because, Finding


def handed_pipelines(training: Training, helper: Object) -> Iterator[Finding]:
    """A pipeline takes the place of the model, and nothing else that `prepare` is given is one."""
    prepared = [one for one in training.events(Prepared) if one.by is helper]
    backward = next((one for one in training.events(Backward) if one.by is helper), None)
    if backward is None or any(map(_may_be_module, prepared)):
        return
    for one in prepared:
        if all(map(_is_pipeline, alternatives(one.what))):
            yield Finding(
                one.at,
                "A pipeline is not a module, so `prepare` returns it as it is: the model in it that is trained does not run "
                "in the chosen precision, and its gradients are not averaged over processes. Prepare that model, such as "
                "`pipeline.unet`.",
                (Because(backward.at, "it is trained here"),),
            )


def _is_pipeline(value: Value) -> bool:
    while isinstance(value, Op) and value.name in KEEPS and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Op) and value.name.startswith("diffusers.") and "Pipeline" in value.name


def _may_be_module(prepared: Prepared) -> bool:
    return any(
        one.is_a(MODULE) if isinstance(one, Object) else not _is_pipeline(one)
        for one in alternatives(prepared.what)
    )
