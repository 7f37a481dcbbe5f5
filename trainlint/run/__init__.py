"""A run from the command to its verdicts: the traced process, its ranks, the joined report."""
