"""Several processes that train together under torchrun: one report for all."""

from __future__ import annotations

import json
from pathlib import Path

from tests.warm import python

TRAIN = Path(__file__).parent.parent / "fixtures" / "ranks" / "train.py"


def test_first_rank_reports_for_all(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    options = ["--trace", "--no-cache", "--output-format", "json", "--output-file", str(report)]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [*torchrun, "-m", "trainlint", "run", *options, str(TRAIN)]
    ran = python(command, tmp_path, {"TMPDIR": str(temporary)})
    assert report.exists(), ran.stderr
    document = json.loads(report.read_text())
    found = [(one["code"], one["verdict"], one["evidence"]["on ranks"]) for one in document["findings"]]
    assert found == [("TL101", "observed", [1])]
    run = document["run"]
    assert run["ending"]["how"] == "recorded"
    assert run["rank"] == {"number": 0, "world": 2}
    disagreements = {(one["what"], one["subject"]): one["ranks"] for one in run["disagreements"]}
    assert disagreements["batch shapes", "input 0"] == {"0": "[8, 4]", "1": "[9, 4]"}
    assert disagreements["calls of modules", "extra"] == {"0": "not called", "1": "called"}
    assert "done" not in ran.stdout
    assert not [*temporary.glob("trainlint-*")]
