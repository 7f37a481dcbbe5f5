"""Tokenizers are watched while a recording lasts, whenever they are imported, and as they were after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.in_process import recorded
from trainlint.facts.seen.texts import Tokenized

_LATE = """
import sys
from trainlint.trace.launch.session import Session
session = Session()
assert "tokenizers" not in sys.modules
finders = len(sys.meta_path)
import tokenizers
inside = tokenizers.Tokenizer.encode
session.close()
assert type(inside).__name__ == "function"
assert type(tokenizers.Tokenizer.encode).__name__ == "method_descriptor"
assert len(sys.meta_path) == finders - 1
"""

_WRITTEN_IN_PYTHON = """
from transformers import PreTrainedTokenizer

class Letters(PreTrainedTokenizer):
    def __init__(self):
        self.all = {one: number for number, one in enumerate(["<pad>", "<unk>", *"abcdefgh "])}
        super().__init__(unk_token="<unk>", pad_token="<pad>")

    vocab_size = property(lambda self: len(self.all))

    def get_vocab(self):
        return dict(self.all)

    def _tokenize(self, text):
        return list(text)

    def _convert_token_to_id(self, token):
        return self.all.get(token, 1)

    def _convert_id_to_token(self, number):
        return list(self.all)[number]

tokenizer = Letters()
tokenizer(["a bad cab", "AB"], padding=True, return_tensors="pt")
tokenizer.encode("a hedge")
"""

_OF_THE_PROGRAM = """
import builtins
import torch
from trainlint.trace.launch.session import Session
before = builtins.__build_class__
session = Session()

class Letters:
    numbers = {one: number for number, one in enumerate("abcdefgh ")}

    def encode(self, text):
        return [self.numbers[one] for one in text if one in self.numbers]

    def decode(self, numbers):
        return "".join([*self.numbers][one] for one in numbers)

class Autoencoder(torch.nn.Module):
    def encode(self, x):
        return x

assert Autoencoder.encode.__code__.co_filename == __file__
inside = Letters.encode
tokens = Letters().encode("a bad cab, and nothing else")
assert tokens == [0, 8, 1, 0, 3, 8, 2, 0, 1, 8, 0, 3, 8, 7, 6, 8, 4, 4]
seen, = session.recorder.texts.seen()
assert (seen.tokenizer, seen.texts, seen.tokens, seen.letters, seen.lost) == ("Letters", 1, 18, 21, 8), seen
session.close()
assert builtins.__build_class__ is before
assert Letters.encode.__code__ is not inside.__code__
"""


def test_a_tokenizer_of_the_program(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_OF_THE_PROGRAM)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_library_that_is_imported_during_the_recording() -> None:
    done = subprocess.run([sys.executable, "-c", _LATE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_tokenizer_that_is_written_in_python(tmp_path: Path) -> None:
    script = tmp_path / "letters.py"
    script.write_text(_WRITTEN_IN_PYTHON)
    several, one = recorded(script).facts(Tokenized)
    assert (several.texts, several.tokens, several.unknown, several.letters) == (2, 11, 2, 9)
    assert (several.unknown_letters, several.example) == (2, "AB")
    assert (one.texts, one.tokens, one.unknown) == (1, 7, 0)
