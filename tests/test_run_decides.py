"""A run refutes what it has decided, and nothing else: bugs that it must not call refuted, and sound twins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run, recorded
from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Constant
from trainlint.facts.trace_file import dumped, loaded

COPIES = """\
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True, bidirectional=BOTH)
        self.head = nn.Linear(32 if BOTH else 16, 11)
    def forward(self, ids):
        return self.head(self.rnn(self.words(ids))[0])
reader = Reader()
optimizer = torch.optim.Adam(reader.parameters(), 1e-3)
for _ in range(4):
    ids = torch.randint(11, (6, 9))
    scores = reader(ids)
    loss = F.cross_entropy(SCORES.reshape(-1, 11), ids[:, 1:].reshape(-1))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


def _verdicts(program: str, tmp_path: Path, code: str) -> list[tuple[int, str | None]]:
    script = tmp_path / "train.py"
    script.write_text(program, encoding="utf-8")
    return [(one.at.line, one.verdict) for one in findings_of_run(script) if one.code == code]


def _copies(scores: str, *, both: bool) -> str:
    return COPIES.replace("SCORES", scores).replace("BOTH", str(both))


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ("scores[:, 1:]", "confirmed"),
        ("scores[..., 1:, :]", "confirmed"),
        ("scores[:, -8:].log_softmax(-1)", "observed"),
        ("scores.narrow(1, 1, 8)", "observed"),
    ],
)
def test_outputs_and_targets_that_begin_at_the_same_position(
    scores: str, verdict: str, tmp_path: Path
) -> None:
    said = _verdicts(_copies(scores, both=False), tmp_path, "TL701")
    assert said == [(18, verdict)]


@pytest.mark.parametrize("scores", ["scores[:, :-1]", "scores[:, 0:8]", "scores.narrow(1, 0, 8)"])
def test_outputs_that_begin_one_position_before_their_targets(scores: str, tmp_path: Path) -> None:
    assert _verdicts(_copies(scores, both=False), tmp_path, "TL701") == []
    assert _verdicts(_copies(scores, both=True), tmp_path, "TL607") == [(17, "observed")]


@pytest.mark.parametrize(
    "scores", ["scores[:, 1:]", "scores[..., 1:, :]", "scores.narrow(1, 1, 8)", "scores.split([1, 8], 1)[1]"]
)
def test_a_model_that_describes_each_word_may_see_all_of_them(scores: str, tmp_path: Path) -> None:
    program = _copies(scores, both=True)
    assert _verdicts(program, tmp_path, "TL607") == []
    assert _verdicts(program, tmp_path, "TL701") == []


def test_whether_a_model_looks_ahead_is_open_where_its_outputs_cannot_be_laid_beside_the_words(
    tmp_path: Path,
) -> None:
    program = _copies("scores[:, 1:]", both=False)
    for turn, scores, verdict in (
        ("transpose(1, 2)", "scores", "confirmed"),
        ("permute(2, 0, 1)", "scores.transpose(0, 1)", "undecided"),
    ):
        turned = program.replace("ids))[0])", f"ids))[0]).{turn}").replace(
            "scores[:, 1:].reshape(-1, 11), ids[:, 1:].reshape(-1)", f"{scores}, ids"
        )
        assert _verdicts(turned, tmp_path, "TL701") == [(18, verdict)]


def test_a_recording_keeps_the_rest_of_an_index(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_copies("scores[..., 1:, :]", both=False), encoding="utf-8")
    again = loaded(dumped(recorded(script)))
    loss = again.events(LossCall)[0].output
    assert any(isinstance(one, Constant) and one.value is ... for one in reached([loss]))


SWAPPED = """\
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
model, teacher = nn.Linear(5, 3), nn.Linear(5, 3)
free = nn.Parameter(torch.zeros(12, 3))
optimizer = torch.optim.Adam([*model.parameters(), free], 1e-3)
said = torch.rand(40, 3).round()
said[torch.rand(40, 3) < 0.1] = 0.5
for _ in range(4):
    rows = torch.randint(40, (12,))
    given, wanted = model(torch.randn(12, 5)), said[rows]
    loss = LOSS
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize(
    "loss",
    [
        "F.binary_cross_entropy_with_logits(wanted, given)",
        "F.binary_cross_entropy(wanted, given.sigmoid())",
        "nn.BCEWithLogitsLoss()(wanted, given)",
    ],
)
def test_targets_in_the_place_of_the_prediction(loss: str, tmp_path: Path) -> None:
    said = _verdicts(SWAPPED.replace("LOSS", loss), tmp_path, "TL110")
    assert [line for line, _ in said] == [13]
    assert {verdict for _, verdict in said} <= {"confirmed", "observed"}


@pytest.mark.parametrize(
    "loss",
    [
        "F.binary_cross_entropy_with_logits(given, wanted)",
        "F.binary_cross_entropy_with_logits(teacher(torch.randn(12, 5)).detach(), free.sigmoid())",
        "F.binary_cross_entropy_with_logits(teacher.requires_grad_(False)(torch.randn(12, 5)), free.sigmoid())",
        "F.triplet_margin_loss(wanted, given, free)",
        "F.margin_ranking_loss(wanted, given, torch.ones(12, 3))",
    ],
)
def test_what_learns_may_stand_in_the_second_place(loss: str, tmp_path: Path) -> None:
    assert _verdicts(SWAPPED.replace("LOSS", loss), tmp_path, "TL110") == []


def test_a_run_measures_a_mask_of_numpy(tmp_path: Path) -> None:
    program = """\
import numpy as np
import torch
from torch import nn
torch.manual_seed(0)
attend = nn.MultiheadAttention(8, 2, batch_first=True)
optimizer = torch.optim.Adam(attend.parameters(), 1e-3)
for _ in range(4):
    x = torch.randn(2, 6, 8)
    mask = torch.from_numpy(np.triu(np.ones((6, 6)), k=1)) == 1
    out, _ = attend(x, x, x, attn_mask=~mask)
    optimizer.zero_grad(); out.square().mean().backward(); optimizer.step()
"""
    assert _verdicts(program, tmp_path, "TL604") == [(10, "confirmed")]
    assert _verdicts(program.replace("~mask", "mask"), tmp_path, "TL604") == []
    near = program.replace("~mask", "mask.fliplr() | mask.T")
    assert _verdicts(near, tmp_path, "TL604") == []


UNSCALED_TWICE = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(5, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
scaler = torch.amp.GradScaler("cuda")
for _ in range(4):
    loss = model(torch.randn(12, 5)).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
"""

POOLED = """\
import torch
from torch import nn
torch.manual_seed(0)
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 8)
        self.head = nn.Linear(8, 3)
    def forward(self, x):
        out, _ = self.rnn(x.transpose(0, 1))
        return self.head(out.mean(1))
reader = Reader()
optimizer = torch.optim.SGD(reader.parameters(), 0.1)
for _ in range(4):
    x, y = torch.randn(7, 7, 5), torch.randint(3, (7,))
    loss = nn.functional.cross_entropy(reader(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

STRAIGHT = """\
import torch
from torch import nn
torch.manual_seed(0)
class Rounded(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = nn.Linear(5, 8), nn.Linear(8, 5)
    def forward(self, x):
        scaled = self.into(x)
        return self.out(scaled + torch.round(scaled) - scaled)
model = Rounded()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(4):
    x = torch.randn(12, 5)
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

SHOWN = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(5, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
parts = 4
for _ in range(3):
    optimizer.zero_grad()
    total = 0.0
    for k in range(parts):
        loss = model(torch.randn(12, 5)).square().mean()
        loss.backward()
        total += loss.item() / parts
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("program", "code", "line"),
    [
        pytest.param(UNSCALED_TWICE, "TL405", 12, id="a scaler that is disabled here"),
        pytest.param(POOLED, "TL609", 11, id="pooling over the batch"),
        pytest.param(SHOWN, "TL314", 12, id="a loss that is divided to be shown"),
        pytest.param(STRAIGHT, "TL107", 10, id="what is added is taken away again"),
    ],
)
def test_what_only_the_source_shows_is_not_refuted(
    program: str, code: str, line: int, tmp_path: Path
) -> None:
    verdicts = dict(_verdicts(program, tmp_path, code))
    assert verdicts[line] != "refuted"


BOTH_STAGES = """\
from contextlib import contextmanager
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
def batches():
    return [(torch.randn(12, 5), torch.randint(3, (12,))) for _ in range(2)]
@contextmanager
def fitting(net):
    net.train()
    yield True
@contextmanager
def checking(net):
    for part in net.modules():
        vars(part).update(training=False)
    with torch.no_grad():
        yield False
for epoch in range(3):
    for enter in STAGES:
        total = 0.0
        with enter(model) as learns:
            for x, y in batches():
                loss = nn.functional.cross_entropy(model(x), y)
                if learns:
                    optimizer.zero_grad(); loss.backward(); optimizer.step()
                total += loss.item()
        print(total)
"""


def test_a_run_that_never_evaluated_refutes_no_evaluation(tmp_path: Path) -> None:
    late, first = (
        BOTH_STAGES.replace("STAGES", one) for one in ("(fitting, checking)", "(checking, fitting)")
    )
    assert _verdicts(late, tmp_path, "TL311") == [(24, "undecided")]
    assert _verdicts(first, tmp_path, "TL311") == [(24, "refuted")]


HALF_STILL = """\
import torch
from torch import nn
torch.manual_seed(0)
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(5, 8)
    def forward(self, x):
        return self.one(x).relu()
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part, self.head = Part(), nn.Linear(8, 3)
    @torch.no_grad()
    def look(self, x):
        return self.part(x)
    def forward(self, x):
        return self.head(self.look(x))
model = Whole()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(4):
    x, y = torch.randn(12, 5), torch.randint(3, (12,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


def test_a_part_that_is_called_without_gradients_was_reached(tmp_path: Path) -> None:
    assert _verdicts(HALF_STILL, tmp_path, "TL204") == [(16, "undecided")]
    sound = HALF_STILL.replace("    @torch.no_grad()\n", "")
    assert _verdicts(sound, tmp_path, "TL204") == []


BLOCKS = """\
import torch
from torch import nn
torch.manual_seed(0)
def build(width, depth):
    block = nn.Linear(width, width)
    body = nn.Sequential(*BLOCKS)
    return nn.Sequential(body, nn.Linear(width, 3))
model = build(8, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(12, 8)), torch.randint(3, (12,)))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ("(block for _ in range(depth))", [(6, "confirmed")]),
        ("[block for _ in range(depth)]", [(6, "confirmed")]),
        ("[nn.Linear(width, width) for _ in range(depth)]", []),
        ("[one for one in (block, nn.ReLU(), block)]", []),
    ],
)
def test_a_layer_that_a_comprehension_repeats(
    blocks: str, found: list[tuple[int, str]], tmp_path: Path
) -> None:
    """The last is a layer that somebody has written twice: to share it may be meant."""
    assert _verdicts(BLOCKS.replace("BLOCKS", blocks), tmp_path, "TL910") == found


@pytest.mark.parametrize(("often", "verdict"), [("[layer] * times", "confirmed"), ("[layer, layer]", None)])
def test_a_layer_that_another_file_repeats(often: str, verdict: str | None, tmp_path: Path) -> None:
    (tmp_path / "repeating.py").write_text(f"def repeated(layer, times):\n    return {often}\n")
    program = "import repeating\n" + BLOCKS.replace("BLOCKS", "getattr(repeating, 'repeated')(block, depth)")
    found = dict(_verdicts(program, tmp_path, "TL910"))
    assert found.get(7) == verdict


def test_lists_that_lie_elsewhere_say_nothing_of_a_layer_that_is_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("app", "lists"):
        (tmp_path / folder).mkdir()
    (tmp_path / "lists/lists_of_numbers.py").write_text("NONE = [0] * 8\n")
    monkeypatch.syspath_prepend(str(tmp_path / "lists"))
    program = "import lists_of_numbers\n" + BLOCKS.replace("BLOCKS", "[block, block]")
    assert _verdicts(program, tmp_path / "app", "TL910") == []


SCHEDULED = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: FACTOR)
for _ in range(4):
    loss = model(torch.randn(8, 3)).pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step(); scheduler.step()
"""


@pytest.mark.parametrize(
    ("factor", "lines"),
    [
        ("(step + 1) // 11", [9]),  # an integer division, which is 0 for the whole warm-up
        ("step / 10", []),
        ("(step + 1) // 4", []),
        ("0.0 if step < 2 else 1 / 0", []),
    ],
)
def test_a_schedule_that_keeps_the_rate_at_0(factor: str, lines: list[int], tmp_path: Path) -> None:
    said = _verdicts(SCHEDULED.replace("FACTOR", factor), tmp_path, "TL315")
    assert [line for line, _ in said] == lines


BY_LAYER = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 1))
groups = [{"params": list(one.parameters()), "lr": 0.1 * RATE} for depth, one in enumerate(model, 1)]
optimizer = torch.optim.SGD(groups)
SCHEDULER
for _ in range(4):
    loss = model(torch.randn(8, 3)).pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize(
    ("rate", "scheduler", "lines"),
    [
        ("(depth // 3)", "", [10]),
        ("(depth // 2)", "", []),  # one group alone
        ("(depth / 3)", "", []),
        ("(depth // 3)", "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 9, eta_min=0.01)", []),
    ],
)
def test_some_layers_have_a_rate_of_0(rate: str, scheduler: str, lines: list[int], tmp_path: Path) -> None:
    text = BY_LAYER.replace("RATE", rate).replace("SCHEDULER", scheduler)
    assert [line for line, _ in _verdicts(text, tmp_path, "TL315")] == lines
