"""Recording from inside a program: the context manager, its report as text and HTML, and the check for test suites."""

from __future__ import annotations

import io
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from trainlint.facts.trace_file import NotATrace, dumped, loaded
from trainlint.judging import judged


@pytest.fixture
def step() -> Any:
    """A recorded step with a softmax before cross-entropy, and the model it was taken with."""
    import torch
    from torch import nn

    from trainlint.trace import record

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, labels = torch.randn(8, 4), torch.randint(0, 3, (8,))
    with record() as trace:
        loss = nn.CrossEntropyLoss()(model(inputs), labels)
        loss.backward()
        optimizer.step()
    return trace.report()


def test_report_says_what_the_step_showed(step: Any) -> None:
    (finding,) = [one for one in step.findings if one.code == "TL101"]
    assert finding.verdict == "observed"
    assert finding.at.path.endswith("test_record.py")
    text = str(step)
    assert "softmax-before-cross-entropy" in text
    assert "Gradients, from input to output" in text
    assert "Not checked" in text


def test_report_shows_itself_in_a_notebook(step: Any) -> None:
    class Text(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []
            self.text = ""

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

        def handle_data(self, data: str) -> None:
            self.text += data

    parser = Text()
    parser.feed(step._repr_html_())
    assert not parser.open
    assert parser.text == str(step)


@pytest.mark.skipif(which("chromium") is None, reason="needs a browser")
def test_a_browser_shows_the_report(step: Any, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><title>step</title>{step._repr_html_()}")
    shown = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    ).stdout
    assert "softmax-before-cross-entropy" in shown
    assert shown.count('<pre class="trainlint"') == 1


def test_the_report_is_saved_as_a_page(step: Any, tmp_path: Path) -> None:
    step.save(tmp_path / "step.html")
    page = (tmp_path / "step.html").read_text()
    assert "softmax-before-cross-entropy" in page and 'id="gradients"' in page


def test_rich_renders_the_report(step: Any) -> None:
    from rich.console import Console

    console = Console(width=200, record=True, file=io.StringIO())
    console.print(step)
    assert "softmax-before-cross-entropy" in console.export_text()


def test_report_before_the_end_is_an_error() -> None:
    from trainlint.trace import record

    with record() as trace, pytest.raises(RuntimeError, match="after the `with` block"):
        trace.report()


def test_exception_in_the_block_is_the_users_own() -> None:
    from trainlint.trace import record

    with pytest.raises(ZeroDivisionError), record() as trace:
        raise ZeroDivisionError("mine")
    assert "ZeroDivisionError: mine" in str(trace.report())


def test_a_trace_that_went_through_a_file_is_judged_alike(step: Any) -> None:
    again = loaded(dumped(step.run))
    assert judged(again, {}) == judged(step.run, {})
    assert again.ending == step.run.ending
    assert dumped(again) == dumped(step.run)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"trainlint-trace": 1}',
        '{"trainlint-trace": 99}',
        "\x00",
        '{"trainlint-trace":1,"places":[],"values":[{"a":"os"}]}',
    ],
)
def test_what_is_no_trace_is_refused(text: str) -> None:
    with pytest.raises(NotATrace):
        loaded(text)


def test_assert_trains_passes_a_model_that_can_learn() -> None:
    import torch
    from torch import nn

    from trainlint.testing import assert_trains

    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.BatchNorm1d(8), nn.Linear(8, 3))
    before = {name: one.clone() for name, one in model.state_dict().items()}
    state = torch.get_rng_state()
    batch = torch.randn(16, 4), torch.randint(0, 3, (16,))
    state = torch.get_rng_state()
    assert_trains(model, batch, nn.functional.cross_entropy)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(one, before[name]) for name, one in model.state_dict().items())


def test_assert_trains_fails_one_that_cannot() -> None:
    import torch
    from torch import nn

    from trainlint.testing import assert_trains

    class Cut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x).detach()).softmax(dim=-1)

    batch = torch.randn(16, 4), torch.randint(0, 3, (16,))
    with pytest.raises(AssertionError, match="TL101"):
        assert_trains(Cut(), batch, nn.functional.cross_entropy)
    keywords = {"x": batch[0]}
    with pytest.raises(AssertionError, match="TL101"):
        assert_trains(Cut(), keywords, lambda output, _: nn.functional.cross_entropy(output, batch[1]))


def test_assert_trains_names_the_layer_and_the_line_of_the_test() -> None:
    import torch
    from torch import nn

    from trainlint.testing import assert_trains

    batch = torch.randn(8, 4), torch.randint(0, 3, (8,))
    with pytest.raises(AssertionError, match=r"`nn\.Softmax\(…\)` turns") as raised:
        assert_trains(nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1)), batch, nn.functional.cross_entropy)
    assert "assert_trains(nn.Sequential(" in str(raised.value)


@pytest.mark.parametrize(
    ("last", "cuts", "said"),
    [
        ("Dropout", False, "every gradient is zero"),
        ("ReLU", True, "the loss does not require grad"),
        (None, False, "there is nothing to train"),
    ],
)
def test_assert_trains_fails_where_nothing_can_learn(last: str | None, *, cuts: bool, said: str) -> None:
    import torch
    from torch import nn

    from trainlint.testing import assert_trains

    layers = {"Dropout": nn.Dropout(1.0), "ReLU": nn.ReLU()}
    model = nn.Sequential(nn.Linear(4, 3), layers[last]) if last else nn.ReLU()
    batch = torch.randn(8, 4), torch.randint(0, 3, (8,))

    def loss(output: Any, target: Any) -> torch.Tensor:
        return nn.functional.cross_entropy(output.detach() if cuts else output, target)

    with pytest.raises(AssertionError, match=said):
        assert_trains(model, batch, loss)


def test_a_part_without_gradient_is_seen_though_the_optimizer_was_there_before() -> None:
    import torch
    from torch import nn

    from trainlint.testing import assert_trains
    from trainlint.trace import record

    class Cut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept = nn.Linear(4, 3)
            self.cut = nn.Linear(4, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            scores: torch.Tensor = self.kept(x) + self.cut(x).detach()
            return scores

    model = Cut()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, labels = torch.randn(8, 4), torch.randint(0, 3, (8,))
    with record() as trace:
        nn.functional.cross_entropy(model(inputs), labels).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert [one.code for one in trace.report().findings] == ["TL210"]
    with pytest.raises(AssertionError, match="TL210"):
        assert_trains(model, (inputs, labels), nn.functional.cross_entropy)


def test_assert_trains_fails_what_runs_and_does_not_learn() -> None:
    import torch
    from torch import nn

    from trainlint.testing import assert_trains

    class Idle(nn.Module):
        """With a layer that is never called, and one behind dropout that lets nothing through."""

        def __init__(self, share: float, *, calls: bool) -> None:
            super().__init__()
            self.body, self.more, self.head = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
            self.drop, self.calls = nn.Dropout(share), calls

        def forward(self, x: Any) -> Any:
            x = self.drop(self.body(x).relu())
            return self.head(self.more(x) if self.calls else x)

    def zero(model: nn.Module) -> nn.Module:
        for one in model.parameters():
            nn.init.zeros_(one)
        return model

    torch.manual_seed(0)
    batch = torch.randn(32, 8), torch.randint(0, 4, (32,))
    loss = nn.functional.cross_entropy
    assert_trains(Idle(0.5, calls=True), batch, loss)
    assert_trains(Idle(0.5, calls=False), batch, loss, ignore=["TL210", "TL908"])
    with pytest.raises(AssertionError, match=r"get no gradient in any of 10 steps: more\.weight"):
        assert_trains(Idle(0.5, calls=False), batch, loss)
    with pytest.raises(AssertionError, match=r"get no gradient in any of 10 steps: body\.weight"):
        assert_trains(Idle(1.0, calls=True), batch, loss)
    with pytest.raises(AssertionError, match="get no gradient"):
        assert_trains(zero(Idle(0.0, calls=True)), batch, loss)
    hidden: Any = nn.Sequential(nn.Linear(8, 4))
    hidden.lent = [nn.Linear(8, 4)]
    with pytest.raises(AssertionError, match=r"`lent` holds layers in a plain container"):
        assert_trains(hidden, batch, loss)
    hidden.lent = [hidden[0]]
    assert_trains(hidden, batch, loss)
    with pytest.raises(AssertionError, match="sign inverted"):
        assert_trains(nn.Linear(8, 4), batch, lambda out, y: -loss(out, y))
    with pytest.raises(AssertionError, match="does not fall"):
        assert_trains(nn.Linear(8, 4), batch, lambda out, y: loss(out - 2 * out.detach(), y))
