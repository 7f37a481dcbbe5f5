"""What only a run can show: the numbers of a recorded training step. Plain data, no tensors.

A `Training` that was recorded hands these to rules beside the events; one that was read from source has none.
"""
