"""The bugs: one file of this folder is one family."""

from bugs import attention, data, graph, loop, loss, model, optimizer, precision, rounds, scores, tokens
from bugs.bug import Bug

BUGS: tuple[Bug, ...] = (
    *loss.BUGS,
    *graph.BUGS,
    *loop.BUGS,
    *rounds.BUGS,
    *optimizer.BUGS,
    *model.BUGS,
    *attention.BUGS,
    *scores.BUGS,
    *tokens.BUGS,
    *data.BUGS,
    *precision.BUGS,
)

__all__ = ["BUGS", "Bug"]
