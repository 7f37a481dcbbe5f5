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
