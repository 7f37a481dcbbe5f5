from collections.abc import Iterator

from trainlint.facts.api.attention import MASKS_MEET
from trainlint.facts.ask.masks_met import MaskMet
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

MEANT = {"later": "later positions", "padding": "padding"}
KEPT = {"later": "earlier positions", "padding": "real tokens"}


@rule(MaskMet, level="error", confidence="likely", words=MASKS_MEET)
def check(mask: MaskMet) -> Iterator[Finding | Open]:
    if mask.part is None:
        yield Open(mask.at, "what this mask holds")
        return
    left_out, kept = MEANT[mask.part.kind], KEPT[mask.part.kind]
    argument = f"`{mask.argument}` of {mask.by}" if mask.argument else f"`{mask.by}`"
    shown = (
        "by its name, `attention_mask` is 1 at real tokens"
        if mask.part.is_told_by_name
        else "the mask is created here"
    )
    because = (Because(mask.part.at, shown),) if mask.part.at is not None else ()
    if mask.told_by is not None:
        because = (Because(mask.told_by, "this counts the positions where the mask is the other way round"),)
    if mask.are_numbers and mask.hides is False:
        yield Finding(
            mask.at,
            f"{argument} adds a float mask to the scores, but this one contains ones and zeros, so nothing "
            "is masked out. Convert it with `.bool()`, and check which positions True stands for."
            if mask.argument
            else "This adds ones and zeros to the scores, so nothing is masked out: a masked score is only lower by 1. "
            'Use `masked_fill` with `float("-inf")`.',
            because,
            level="info"
            if mask.is_behind_causal
            else None,  # what is behind a sequence is hidden from it anyway
        )
    elif mask.sees is False and mask.hides is False:
        yield Finding(
            mask.at,
            f"This mask has inverted polarity: it masks out {kept} and attends to {left_out}. "
            f"{_convention(mask)}",
            because,
        )


def _convention(mask: MaskMet) -> str:
    if mask.by == "F.scaled_dot_product_attention":
        return "For scaled_dot_product_attention, True means attend: invert the mask, with `~`."
    if mask.argument:
        return f"For {mask.by}, True means masked out: invert the mask, with `~`."
    if mask.by == "where":
        return "`torch.where` takes its second argument where the mask is True: invert the mask, with `~`."
    if mask.by == "setitem":
        return "The scores are set where the mask is True: invert the mask, with `~`."
    if mask.by in ("+", "-"):
        return "Masked positions need the large negative value."
    return "`masked_fill` fills where the mask is True: invert the mask, with `~` or `== 0`."
