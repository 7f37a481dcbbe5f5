"""For pytest: `trainlint` as a fixture and as a marker. Imports nothing of trainlint before a test asks for it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

_LINE = "trainlint(steps=1, ignore=()): record the training steps of this test, and fail it for errors that they show."


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _LINE)


@pytest.fixture
def trainlint() -> Any:
    """The assertions of `trainlint.testing`, such as `trainlint.assert_overfits`, and `record` of `trainlint.trace`."""
    pytest.importorskip("torch")
    from trainlint import testing
    from trainlint.trace import record

    class Trainlint:
        """What is asked for by name comes from `trainlint.testing`."""

        def __init__(self) -> None:
            self.record: Callable[..., Any] = record

        def __getattr__(self, name: str) -> Any:
            return getattr(testing, name)

    return Trainlint()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test with the marker is recorded while it runs."""
    marker = item.get_closest_marker("trainlint")
    if marker is None:
        return (yield)
    __tracebackhide__ = True
    options = {"steps": 1, "ignore": (), **marker.kwargs}
    unknown = sorted(options.keys() - {"steps", "ignore"})
    if unknown or marker.args:
        pytest.fail(f"a marker is {_LINE}", pytrace=False)
    pytest.importorskip("torch")
    from trainlint.testing import assert_no_error
    from trainlint.trace import record

    with record(options["steps"]) as trace:
        result = yield
    report = trace.report()
    if not report.run.ending.trained:
        pytest.fail(
            "no training step was recorded: this marker is for tests that train a model", pytrace=False
        )
    assert_no_error(report, options["ignore"])
    return result
