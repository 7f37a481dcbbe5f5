from collections.abc import Iterator

from trainlint.facts.ask.attention import MaskMet
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

MEANT = {"later": "later positions", "padding": "padding"}
KEPT = {"later": "earlier positions", "padding": "real tokens"}


@rule(MaskMet, level="error")
def check(mask: MaskMet) -> Iterator[Finding | Open]:
    if mask.part is None:
        yield Open(mask.at, "what this mask holds")
        return
    left_out, kept = MEANT[mask.part.kind], KEPT[mask.part.kind]
    argument = f"`{mask.argument}` of {mask.by}" if mask.argument else f"`{mask.by}`"
    because = (Because(mask.part.at, "the mask is made here"),) if mask.part.at is not None else ()
    if mask.are_numbers and mask.hides is False:
        yield Finding(
            mask.at,
            f"{argument} adds a floating mask to the scores, and this one holds ones and zeros: nothing is left out. "
            "Make it boolean, with `.bool()`, and see to it that True means what is meant here.",
            because,
        )
    elif mask.sees is False and mask.hides is False:
        yield Finding(
            mask.at,
            f"This mask is the wrong way round: it leaves out {kept}, and lets {left_out} be seen. {_convention(mask)}",
            because,
        )


def _convention(mask: MaskMet) -> str:
    if mask.by == "F.scaled_dot_product_attention":
        return "For scaled_dot_product_attention, True means to attend: turn it round, with `~`."
    if mask.argument:
        return f"For {mask.by}, True means to leave out: turn it round, with `~`."
    if mask.by == "where":
        return "`torch.where` takes its second argument where the mask is True: turn it round, with `~`."
    if mask.by in ("+", "-"):
        return "What is to be left out needs the large negative number."
    return "The fill goes where the mask is True: turn it round, with `~` or `== 0`."
