from collections.abc import Iterator
from dataclasses import replace

from trainlint.facts.api.attention import FUSED, TOLD_BY_SHARE
from trainlint.facts.ask.guards import ask_for_mode, ask_if_missing, depends_on_mode
from trainlint.facts.ask.registration import is_kept
from trainlint.facts.model.events.forwards import Dropped
from trainlint.facts.model.events.modules import Built, ModeChange
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Unknown, Value, alternatives
from trainlint.facts.seen.probes import DropsInEvaluation
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

LAYERS = frozenset(
    f"torch.nn.{name}" for name in "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout".split()
)
MODE = "whether it drops in evaluation"


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding | Open]:
    calls = training.events(Dropped)
    by_choice = {call.at for call in calls if _may_be_zero(call.share)}
    drops = {one.at: one.drops for one in training.facts(DropsInEvaluation)}
    for call in calls:
        if drops.get(call.at) is False:
            continue  # it was tried: nothing is dropped in evaluation
        if call.at in drops:
            call = replace(call, mode=False)
        if call.at in by_choice:
            continue  # who evaluates passes 0
        if call.function in TOLD_BY_SHARE:
            yield from _in_attention(call)
        else:
            yield from _by_function(call)
    for built in training.events(Built):
        if built.within is not None and built.object.type in LAYERS:
            yield from _in_a_new_layer(training, built)


def _by_function(call: Dropped) -> Iterator[Finding | Open]:
    if call.is_open or call.training is not None or _asks_mode(call) or _is_callers_choice(call):
        return
    if call.mode is True:
        yield Open(call.at, MODE)
        return
    yield Finding(
        call.at,
        f"`F.{call.function}` is called without `training=self.training`, so `eval()` does not disable it: "
        "validation and predictions stay noisy. Pass `training=self.training`, or use a layer.",
        evidence={"the module was in evaluation mode": True} if call.mode is False else {},
        clues={"what": "function"},
    )


def _in_attention(call: Dropped) -> Iterator[Finding | Open]:
    if call.is_open or call.share is None or _asks_mode(call):
        return
    if call.mode is True:
        yield Open(call.at, MODE)
        return
    if call.mode is None and not _is_own_setting(call):
        return
    yield Finding(
        call.at,
        f"`{call.function}` applies `dropout_p` in training and evaluation mode alike, so "
        "`eval()` does not disable it: validation and predictions stay noisy. Pass `dropout_p=... if "
        "self.training else 0.0`.",
        evidence={"the module was in evaluation mode": True} if call.mode is False else {},
        clues={"what": "attention", "position": FUSED.get(call.function, 4)},
    )


def _in_a_new_layer(training: Training, built: Built) -> Iterator[Finding]:
    layer = built.object
    switched = any(
        one is layer for event in training.events(ModeChange) for one in alternatives(event.module)
    )
    is_lasting = built.is_once or ask_if_missing(built.under) or is_kept(training, layer)
    if switched or is_lasting or _may_be_zero(layer.argument(0, "p") or Constant(value=0.5)):
        return
    yield Finding(
        built.at,
        f"`{layer.type.removeprefix('torch.')}` is re-created on every forward call, and a new module is in "
        "training mode: `eval()` does not disable it. Create it once, in `__init__`.",
        (Because(layer.at, "it is created here"),) if layer.at is not None and layer.at != built.at else (),
    )


def _may_be_zero(share: Value | None) -> bool:
    """Whether nothing is dropped, on some path at least, or by default."""
    return any(isinstance(one, Constant) and not one.value for one in alternatives(share))


def _asks_mode(call: Dropped) -> bool:
    """Whether it depends on `self.training`."""
    return ask_for_mode(call.guards) or depends_on_mode(call.share)


def _is_own_setting(call: Dropped) -> bool:
    """Whether the probability is an attribute of the module, a config's among them, or a number: what a caller passes
    may be right."""
    share = call.share
    if isinstance(share, Constant):
        return not share.is_default or any(one is share for one in call.module.attributes.values())
    is_setting = isinstance(share, Unknown) or (
        isinstance(share, Op) and (share.name in ("getattr", "getitem") or _is_looked_up(share))
    )
    return is_setting and any(one is share for one in call.module.attributes.values())


def _is_looked_up(share: Op) -> bool:
    """Whether a method looks it up by name, and gives something above 0 where there is none: `cfg.get("dropout", 0.1)`."""
    match share:
        case Op(name="call", inputs=(_, Constant(value=str()), Constant(value=int() | float() as other))):
            return share.text.endswith(".get(…)") and other > 0
    return False


def _is_callers_choice(call: Dropped) -> bool:
    """Whether the probability is handed over by code that is not seen, which may pass 0 in evaluation."""
    held = call.module.attributes.values()
    return isinstance(call.share, Unknown) and all(one is not call.share for one in held)
