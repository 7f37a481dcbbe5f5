"""Statements one after the other, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


Signal = str | None
"""How a block ends: None falls through; "return", "break", "continue" and "raise" do not."""


def block(ev: Evaluator, statements: s.Block) -> Signal:
    here = ev.here
    try:
        return decided(ev, statements)
    finally:
        ev.forget(here)


def decided(ev: Evaluator, statements: s.Block) -> Signal:
    """A block whose assumptions live on after it, as if it stood in the surrounding one."""
    for statement in statements:
        signal = ev.do(statement)
        if signal is not None:
            return signal
    return None
