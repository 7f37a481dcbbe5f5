"""Programs that grow cost as much more as they are longer: counted, not timed, for some of the patterns of bench/growing."""

from __future__ import annotations

import pytest

from bench.growing.growth import verdict
from bench.growing.measure import measured

pytest.importorskip("resource", reason="what runs away is ended by limits that this system does not have")

SIZES = (5, 10, 20, 40)
MOST = 2_000_000
"""Calls of functions: 20 times what a program of this length takes."""
