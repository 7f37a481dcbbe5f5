"""What a mask holds where something is to be seen, and where something is to be left out.

A mask is followed from what it was made of: what it holds at the past and at the future (`tril`, `triu`, comparisons
of positions), and at real tokens and at padding (comparisons with the padding token, positions and lengths).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.api.precision import FLOATS
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.diagonals import from_the_end
from trainlint.facts.ask.indices import Indices, indices
from trainlint.facts.ask.mask_names import SAYS_ITSELF, SAYS_LENGTH, SAYS_TOKENS, is_attention_mask, words_of
from trainlint.facts.ask.mask_parts import Mask, Part
from trainlint.facts.ask.row_masks import are_lengths, of_padded_rows, rows_filled
from trainlint.facts.ask.sizes import is_same_size
from trainlint.facts.model.elements import BINARY, UNARY, Element, number_of, plain
from trainlint.facts.model.values import Choice, Constant, Items, Named, Op, Value

_UNKNOWN = Mask(None)

FRESH: dict[str, tuple[Element, int]] = {
    "ones": (1.0, 0),
    "zeros": (0.0, 0),
    "full": (None, 0),
    "new_ones": (1.0, 1),
    "new_zeros": (0.0, 1),
    "new_full": (None, 1),
    "ones_like": (1.0, 0),
    "zeros_like": (0.0, 0),
    "full_like": (None, 0),
}
"""Operations that fill a tensor with one number: the number, and how many arguments stand before its size."""

_LATER = "torch.nn.Transformer.generate_square_subsequent_mask"
_TURNS = frozenset("T t mT transpose swapaxes swapdims".split())
_KEEPS = (
    (KEEPS | frozenset(("repeat", "alias", "from_numpy", "broadcast_to", "copy", "detach_")))
    - _TURNS
    - frozenset(
        "getitem stack cat concat hstack vstack gather select narrow index_select rearrange permute "
        "movedim moveaxis unbind chunk split tensor Tensor float double half bfloat16 type to".split()
    )
)
_LENGTHENS = ("cat", "concat", "concatenate", "vstack", "hstack", "pad")
"""Operations that put masks, or the same everywhere, behind each other."""
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@question(start=None, unknown=None)
def made(value: Value | None) -> Mask | None:
    """What a mask holds; None where nothing is known of it."""
    if value is not None and is_attention_mask(value):
        at = value.at if isinstance(value, Op) else None
        return Mask(1, (Part("padding", value.uid, 0, is_named=True, at=at, is_told_by_name=True),))
    if isinstance(value, Op) and value.drawn is not None:
        return _written(value, made(value.drawn))
    if isinstance(value, Op):
        return _written(value, _of(value))
    if isinstance(value, Choice):
        return _of_ways([made(one) for _, one in value.options])
    number = number_of(value)
    return Mask(number) if number is not None else None


def _of_ways(ways: Sequence[Mask | None]) -> Mask | None:
    """What a mask holds whichever way it has come about."""
    first = ways[0] if ways else None
    if first is None or any(one is None or replace(one, size=first.size) != first for one in ways):
        return None
    return replace(first, size=())


def _written(op: Op, mask: Mask | None) -> Mask | None:
    """A mask after what was written into it later."""
    for write in op.written:
        if mask is None:
            return None
        name = write.name.removesuffix("_")
        if name == "masked_fill":
            mask = _filled(mask, write)
        elif name == "setitem":
            mask = rows_filled(mask, write)
        elif name in ("detach", "requires_grad"):
            continue
        else:
            return None
    return mask


def _of(op: Op) -> Mask | None:
    name = plain(op)
    first = op.inputs[0] if op.inputs else None
    if name in FRESH:
        return _fresh(op, name)
    if op.name == _LATER:
        return Mask(0.0, (Part("later", op.uid, -math.inf, 0, True, at=op.at, text=op.text),))
    if name in ("tril", "triu"):
        return _triangle(op, name, made(first))
    if name in _COMPARED and len(op.inputs) == 2:
        return _compared(op, name)
    if name == "masked_fill":
        return _filled(made(first), op)
    if name == "where" and len(op.inputs) == 3:
        return _each(lambda c, a, b: None if c is None else a if c else b, *map(made, op.inputs))
    if name in ("and", "or", "*", "+", "-", "/") and len(op.inputs) == 2:
        return _each(BINARY[name], *map(made, op.inputs))
    if name in UNARY and len(op.inputs) == 1:
        return _each(UNARY[name], made(first))
    if name in ("to", "type", "astype"):
        return _cast(op, made(first))
    if name in _TURNS:
        return _transposed(op, made(first))
    if name == "getitem":
        return _sliced(op, made(first))
    if name == "torch.nn.utils.rnn.pad_sequence":
        return of_padded_rows(op, first, made)
    if name in _LENGTHENS:
        return _longer(first.items if isinstance(first, Items) and first.exact else op.inputs[:1])
    return made(first) if name in _KEEPS else None


def _fresh(op: Op, name: str) -> Mask | None:
    number, before = FRESH[name]
    given = list(op.inputs[before:])
    if "size" in op.options:
        given.insert(0, op.options["size"])
    if number is None:
        fill = op.options.get("fill_value") or (
            op.inputs[1 + before] if len(op.inputs) > 1 + before else None
        )
        number, given = number_of(fill), given[:1]
    if name.endswith("_like"):
        given = []
    if len(given) == 1 and isinstance(given[0], Items) and given[0].exact:
        given = list(given[0].items)
    if number is None:
        return None
    if _is_boolean(op.options.get("dtype")) or (op.seen is not None and op.seen.dtype == "bool"):
        number = bool(number)
    return Mask(number, size=tuple(given))


def _is_boolean(dtype: Value | None) -> bool:
    return isinstance(dtype, Named) and dtype.name in (
        "torch.bool",
        "builtins.bool",
        "torch.BoolTensor",
        "torch.cuda.BoolTensor",
        "numpy.bool_",
        "numpy.bool",
    )


def _triangle(op: Op, name: str, whole: Mask | None) -> Mask | None:
    """`tril` and `triu`: one side of the diagonal becomes 0."""
    if whole is None or any(one.kind == "later" for one in whole.parts):
        return None
    given = op.option(1, "diagonal") or op.options.get("k")
    number = 0 if given is None else number_of(given)
    last = int(number) if number is not None and abs(number) < 1e6 else None
    if name == "triu" and not whole.parts and _reaches_back(given):
        return whole  # it only ends how far back one sees
    nothing: Element = False if isinstance(whole.kept, bool) else 0.0
    is_square = len(whole.size) > 1 and is_same_size(whole.size[-1], whole.size[-2])
    if op.seen is not None:
        is_square = len(op.seen.shape) > 1 and op.seen.shape[-1] == op.seen.shape[-2]
    ahead = from_the_end(given, whole.size)
    if ahead is not None:
        last, is_square = ahead, True
    later = Part("later", op.uid, nothing, last, is_square, at=op.at, text=op.text)
    if name == "tril":
        return Mask(whole.kept, (*whole.parts, later))
    if whole.parts or (last is not None and last < 0):
        return None
    return Mask(nothing, (replace(later, held=whole.kept, last=last - 1 if last is not None else None),))


def _reaches_back(diagonal: Value | None) -> bool:
    """Whether a diagonal lies as far before the main one as a window is long: `-window`, `1 - window`."""
    if not isinstance(diagonal, Op) or diagonal.name != "-":
        return False
    *before, _ = diagonal.inputs
    return all(number_of(one) in (0, 1) for one in before) and number_of(diagonal) is None


def _each(work: Callable[..., Element], *operands: Mask | None) -> Mask | None:
    """What an operation on each element makes of masks, of which some may not be known."""
    if all(one is None for one in operands):
        return None
    masks = [one or _UNKNOWN for one in operands]
    parts: list[Part] = []
    for part in (part for one in masks for part in one.parts):
        if not any(part.is_same(other) for other in parts):
            parts.append(part)
    if sum(part.kind == "later" for part in parts) > 1:
        return None
    size = next((one.size for one in masks if one.size), ())
    return Mask(
        work(*(one.kept for one in masks)),
        tuple(replace(part, held=work(*(one.at(part) for one in masks))) for part in parts),
        size,
    )


def _filled(whole: Mask | None, op: Op) -> Mask | None:
    mask, fill = op.option(1, "mask"), number_of(op.option(2, "value"))
    return _each(
        lambda x, chosen, new: None if chosen is None else new if chosen else x,
        whole,
        made(mask),
        Mask(fill),
    )


def _cast(op: Op, whole: Mask | None) -> Mask | None:
    if whole is None:
        return None
    dtypes = [one for one in (*op.inputs[1:], *op.options.values()) if isinstance(one, Named)]
    if any(map(_is_boolean, dtypes)) or (op.seen is not None and op.seen.dtype == "bool"):
        return _each(UNARY["bool"], whole)
    if any(one.name in FLOATS for one in dtypes) or any(
        isinstance(one, Op) and one.name == "dtype" for one in (*op.inputs[1:], *op.options.values())
    ):
        return _each(UNARY["float"], whole)
    if any(one.name.rpartition(".")[2] in ("int", "long", "uint8", "int64", "int32") for one in dtypes):
        return _each(UNARY["int"], whole)
    if op.seen is not None and "float" in op.seen.dtype:
        return _each(UNARY["float"], whole)
    return whole


def _transposed(op: Op, whole: Mask | None) -> Mask | None:
    if whole is None or not whole.parts:
        return whole
    axes = {number_of(one) for one in op.inputs[1:]} or {-1, -2}
    is_later = any(one.kind == "later" for one in whole.parts)
    return turned(whole) if not is_later or axes in ({-1, -2}, {0, 1}) else None


def turned(whole: Mask) -> Mask | None:
    """Queries and keys change places: what was later is earlier."""
    if all(one.kind == "padding" for one in whole.parts):
        return whole
    if len(whole.parts) > 1:
        return None
    (part,) = whole.parts
    last = -part.last - 1 if part.last is not None else None
    return Mask(part.held, (replace(part, held=whole.kept, last=last),))


def _sliced(op: Op, whole: Mask | None) -> Mask | None:
    """A part of a mask, from its beginning on."""
    index = op.options.get("index") or (op.inputs[1] if len(op.inputs) > 1 else None)
    if whole is None or index is None:
        return None
    bounds: list[Value] = []
    for one in index.items if isinstance(index, Items) else [index]:
        if isinstance(one, Op) and one.name == "[:]":
            start, stop = number_of(one.inputs[0]), one.inputs[1]
            begins = isinstance(one.inputs[0], Constant) and one.inputs[0].value in (None, 0)
            if not begins and not all(part.kind == "padding" for part in whole.parts):
                return replace(
                    whole, parts=tuple(replace(part, last=None, is_square=False) for part in whole.parts)
                )
            if not begins and start is None:
                continue
            if not (isinstance(stop, Constant) and stop.value is None):
                bounds.append(stop)
        elif not isinstance(one, Constant):
            return None
    still = not bounds or (len(bounds) > 1 and is_same_size(bounds[-1], bounds[-2]))
    if still:
        return whole
    return replace(whole, parts=tuple(replace(part, is_square=False) for part in whole.parts))


def _longer(pieces: Sequence[Value]) -> Mask | None:
    """Masks that stand one behind the other, or one with more positions, such as that of a class token before it."""
    masks = [made(one) for one in pieces]
    telling = [one for one in masks if one is not None and one.parts]
    if None in masks or len({(one.kept, *(part.held for part in one.parts)) for one in telling}) != 1:
        return None
    parts = tuple(replace(part, last=None, is_square=False) for part in telling[0].parts)
    return Mask(telling[0].kept, parts)


# Comparisons of positions, lengths and tokens


def _compared(op: Op, name: str) -> Mask | None:
    first, second = op.inputs
    masks = made(first), made(second)
    if any(one is not None and one.parts for one in masks):
        compare = _COMPARED[name]
        return _told_apart(
            name, _each(lambda a, b: None if a is None or b is None else compare(a, b), *masks)
        )
    here, there = indices(first), indices(second)
    if here is not None and there is not None:
        return _of_positions(op, name, here, there)
    if name in _FLIPPED and (here is None) is not (there is None):
        return _of_lengths(
            op, name if here is not None else _FLIPPED[name], second if here is not None else first
        )
    return _of_tokens(op, name) if name in ("==", "!=") else None


def _told_apart(name: str, compared: Mask | None) -> Mask | None:
    """Tokens of which only the padding is known, compared with the number that stands there: all others differ from it."""
    if compared is None or compared.kept is not None or name not in ("==", "!="):
        return compared
    is_fill = [one.held is (name == "==") for one in compared.parts if one.kind == "padding"]
    return (
        replace(compared, kept=name == "!=") if is_fill == [True] and len(compared.parts) == 1 else compared
    )


def _of_positions(op: Op, name: str, here: Indices, there: Indices) -> Mask | None:
    if here.along == "rows" and there.along != "rows":
        rows, columns = here, there
    elif there.along == "rows" and here.along != "rows":
        rows, columns, name = there, here, _FLIPPED.get(name, name)
    else:
        return None
    if name not in _FLIPPED:
        return None
    last = rows.offset - columns.offset - (name in (">", "<="))
    keeps = name in (">", ">=")
    is_square = rows.size is not None and columns.size is not None and is_same_size(rows.size, columns.size)
    return Mask(keeps, (Part("later", op.uid, not keeps, last, is_square, at=op.at, text=op.text),))


def _of_lengths(op: Op, name: str, other: Value) -> Mask | None:
    """`positions < lengths`: the rest is padding."""
    if isinstance(other, Constant) or not (SAYS_LENGTH.search(words_of(op, other)) or are_lengths(other)):
        return None
    keeps = name in ("<", "<=")
    return Mask(keeps, (Part("padding", other.uid, not keeps, is_named=True, at=op.at, text=op.text),))


def _of_tokens(op: Op, name: str) -> Mask | None:
    """`tokens != padding`."""
    tokens, padding = op.inputs
    if isinstance(tokens, Constant):
        tokens, padding = padding, tokens
    words, number = words_of(op, tokens), number_of(padding)
    if isinstance(tokens, Constant) or SAYS_ITSELF.search(words):
        return None
    if op.seen is not None and not (
        isinstance(tokens, Op) and tokens.seen is not None and tokens.seen.dtype.startswith(("int", "uint"))
    ):
        return None
    is_named = "pad" in words_of(op, padding) or (number == 0 and bool(SAYS_TOKENS.search(words)))
    if not is_named and (number != 0 or isinstance(number, bool)):
        return None
    keeps = name == "!="
    return Mask(keeps, (Part("padding", tokens.uid, not keeps, is_named=is_named, at=op.at, text=op.text),))
