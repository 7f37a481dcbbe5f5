"""Names that a program is asked about as a whole: whether any of its code speaks of them, as a name or a keyword. Data."""

from __future__ import annotations

LEAVES_OUT = frozenset(
    "ignore_index DataCollatorForLanguageModeling DataCollatorForCompletionOnlyLM padding_idx loss_mask".split()
)
"""Names by which a program says that some labels do not count, beside that number."""

WORKERS = "num_workers"
SEEDS_WORKERS = "worker_init_fn"

SPOKEN = LEAVES_OUT | {WORKERS, SEEDS_WORKERS}
