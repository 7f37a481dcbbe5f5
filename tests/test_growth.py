"""Programs that grow cost as much more as they are longer.

The work is counted, not timed. The patterns are a few of those in bench/growing: `python bench/growth.py` goes through
all of them, and further.
"""

from __future__ import annotations

import pytest

from bench.growing.growth import verdict
from bench.growing.measure import measured
from tests.warm import executable

pytest.importorskip(
    "resource", reason="a check that runs away is ended by limits that this system does not have"
)

SIZES = (5, 10, 20, 40)
MOST = 2_000_000
"""Calls of functions; most programs of the largest size take a few 10,000."""

PATTERNS = """
    appended_to_itself axes_multiplied batches_of_pairs best_copies big_numbers clamped class_diamonds closures compositions dataclasses dicts_of_dicts
    diamonds divergence_times_squares elif_chain factories factories_of_models gates half_products_of_unknown halved_numbers handed_over_ten_times helpers_twice
    helpers_with_events ifs_with_backward states_kept validations
    ifs_with_events independent_ifs joined_on_host lists_added lists_extended loops_through_calls lstm_written_out
    masks_crossed matches multiplexed neighbours_in_evaluation nested_loops one_layer_a_file pairs_of_pairs parents peers
    powers_of_unknown regions_through_calls registry_of_classes residual_nests residual_nests_in_row
    sequentials_of_sequentials share_of_dropout_of_many short_loops_nested squares star_arguments steps_in_row
    sums_of_lists ten_times_itself tries walrus weights_made_of_weights zips
""".split()


@pytest.mark.parametrize("name", PATTERNS)
def test_work_grows_with_the_text(name: str) -> None:
    assert verdict(measured(name, SIZES, MOST, executable())) == "linear"
