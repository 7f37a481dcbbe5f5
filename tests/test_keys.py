"""What the engine keeps of an object does not meet the attributes that a program sets on it."""

from __future__ import annotations

from trainlint.facts.model.values import Constant, Object
from trainlint.program.evaluate.evaluator import Evaluator
from trainlint.program.incremental.project_files import Project
from trainlint.program.source.outline import outline
from trainlint.program.source.read import read

TEXT = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--rate", default=1)
setattr(parser, "option rate", 2)
setattr(parser, "option other", 3)
args = parser.parse_args()
"""


def test_an_attribute_named_like_an_option_is_none() -> None:
    module = read(TEXT)
    evaluator = Evaluator(Project({"train.py": module}, {"train.py": outline(module)}))
    env = evaluator.module("train.py")
    args = evaluator.store.get((env.uid, "args"))
    assert isinstance(args, Object)
    rate = evaluator.store.get((args.uid, "rate"))
    assert isinstance(rate, Constant) and rate.value == 1
    assert evaluator.store.get((args.uid, "other")) is None
