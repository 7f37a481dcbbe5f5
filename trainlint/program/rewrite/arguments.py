"""The arguments of a call: added, taken out and exchanged in the style that the call is written in."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

_NO_COMMA = cst.MaybeSentinel.DEFAULT
_SPACE = cst.SimpleWhitespace(" ")


def with_last(call: cst.Call, argument: cst.Arg) -> cst.Call:
    """The call with one more argument at its end."""
    if not call.args:
        return call.with_changes(args=[argument])
    *before, last = call.args
    last = last.with_changes(value=_in_company(last.value))
    lines = _line_of(call)
    if isinstance(last.comma, cst.Comma):  # the end of the call stands behind a comma
        end = last.comma.whitespace_after
        between: cst.BaseParenthesizableWhitespace = _SPACE
        if isinstance(end, cst.ParenthesizedWhitespace) and lines is not None:
            between = end.with_changes(last_line=lines.last_line, indent=lines.indent, empty_lines=[])
            end = end.with_changes(first_line=_bare(lines.first_line))
        last = last.with_changes(comma=last.comma.with_changes(whitespace_after=between))
        argument = argument.with_changes(comma=cst.Comma(whitespace_after=end))
    else:
        between = _SPACE
        end = last.whitespace_after_arg
        if isinstance(end, cst.ParenthesizedWhitespace) and lines is not None:
            between = end.with_changes(last_line=lines.last_line, indent=lines.indent, empty_lines=[])
            end = end.with_changes(first_line=_bare(end.first_line))
        elif lines is not None and len(call.args) > 1:
            between = lines
        last = last.with_changes(
            comma=cst.Comma(whitespace_after=between), whitespace_after_arg=cst.SimpleWhitespace("")
        )
        argument = argument.with_changes(whitespace_after_arg=end)
    return call.with_changes(args=[*before, last, argument])


def without(call: cst.Call, position: int) -> cst.Call:
    """The call without one of its arguments."""
    arguments = list(call.args)
    gone = arguments.pop(position)
    if arguments and position == len(arguments):  # what stood before it now ends the call
        last = arguments[-1]
        arguments[-1] = last.with_changes(comma=gone.comma, whitespace_after_arg=gone.whitespace_after_arg)
    if not arguments:
        return call.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    return call.with_changes(args=arguments)


def joined(call: cst.Call, own: Sequence[cst.Arg], first_line: cst.BaseParenthesizableWhitespace) -> cst.Call:
    """A call whose arguments come from several places, with commas between them.

    Args:
        own: those that are new; they stand on lines of their own where the others do.
        first_line: what stands before the first argument.
    """
    arguments = list(call.args)
    new = {id(one) for one in own}
    for number, one in enumerate(arguments):
        is_last = number == len(arguments) - 1
        if len(arguments) > 1:
            one = one.with_changes(value=_in_company(one.value)) if not one.star else one
        if is_last:
            if id(arguments[number]) in new or not isinstance(one.comma, cst.Comma):
                one = one.with_changes(comma=_NO_COMMA)
        elif id(arguments[number]) in new or not isinstance(one.comma, cst.Comma):
            space = _plain(first_line) if isinstance(first_line, cst.ParenthesizedWhitespace) else _SPACE
            one = one.with_changes(
                comma=cst.Comma(whitespace_after=space), whitespace_after_arg=cst.SimpleWhitespace("")
            )
        arguments[number] = one
    return call.with_changes(args=arguments)


def _plain(lines: cst.ParenthesizedWhitespace) -> cst.ParenthesizedWhitespace:
    return lines.with_changes(first_line=_bare(lines.first_line), empty_lines=[])


def _bare(line: cst.TrailingWhitespace) -> cst.TrailingWhitespace:
    return line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))


def _line_of(call: cst.Call) -> cst.ParenthesizedWhitespace | None:
    """What stands between two arguments of a call that gives each a line of its own."""
    if isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        return _plain(call.whitespace_before_args)
    for argument in call.args[:-1]:
        comma = argument.comma
        if isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
            return _plain(comma.whitespace_after)
    return None


def _in_company(value: cst.BaseExpression) -> cst.BaseExpression:
    """A generator needs parentheses once it is not alone in a call."""
    if isinstance(value, cst.GeneratorExp) and not value.lpar:
        return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return value
