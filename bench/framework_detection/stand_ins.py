"""What programs find here in place of downloads: small models with random weights, a tokenizer of letters, made-up data."""

from __future__ import annotations

import sys
import types
from typing import Any

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;!?#-'\"\n"
_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
_ROWS = 48


def install() -> None:
    _tokenizers()
    _models()
    _data()
    _metrics()
    _demos()


def _tokenizer(*_: Any, **options: Any) -> Any:
    from tokenizers import Regex, Tokenizer
    from tokenizers.decoders import Fuse
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate((*_SPECIAL, *_LETTERS))}
    inner = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = Split(Regex(""), "isolated")
    inner.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>",
        cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]", model_max_length=64,
        padding_side=options.get("padding_side", "right"),
    )  # fmt: skip


def _tokenizers() -> None:
    import transformers

    for name in ("AutoTokenizer", "T5TokenizerFast"):
        setattr(transformers, name, type(name, (), {"from_pretrained": staticmethod(_tokenizer)}))


def _models() -> None:
    import transformers as hf

    small = {"vocab_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
    bert = hf.BertConfig(hidden_size=32, intermediate_size=64, num_labels=2, **small)
    llama = hf.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_key_value_heads=2, max_position_embeddings=256, **small
    )
    bart = hf.BartConfig(
        vocab_size=128, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=64, decoder_ffn_dim=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2,
    )  # fmt: skip
    t5 = hf.T5Config(
        vocab_size=128, d_model=32, d_ff=64, d_kv=16, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    distil = hf.DistilBertConfig(vocab_size=128, dim=32, hidden_dim=64, n_layers=1, n_heads=2)

    def stands_in(name: str, kind: Any, config: Any) -> None:
        def make(*_: Any, **__: Any) -> Any:
            return kind(config)

        setattr(
            hf,
            name,
            type(name, (), {"from_pretrained": staticmethod(make), "from_config": staticmethod(make)}),
        )

    stands_in("AutoModelForSequenceClassification", hf.BertForSequenceClassification, bert)
    stands_in("AutoModelForCausalLM", hf.LlamaForCausalLM, llama)
    stands_in("AutoModelForSeq2SeqLM", hf.BartForConditionalGeneration, bart)
    stands_in("T5ForConditionalGeneration", hf.T5ForConditionalGeneration, t5)
    stands_in("BertForMultipleChoice", hf.BertForMultipleChoice, bert)
    stands_in("DistilBertModel", hf.DistilBertModel, distil)
    bart_like = type("AutoConfig", (), {"from_pretrained": staticmethod(lambda *_, **__: bart)})
    hf.AutoConfig = bart_like  # type: ignore[assignment,misc]


def _sentence(number: int) -> str:
    words = "the a model data learns quickly slowly never always red green blue small large".split()
    return " ".join(words[(number * 7 + k * (number % 5 + 1)) % len(words)] for k in range(2 + number % 5))


def _rows(**columns: Any) -> Any:
    import datasets

    made = {name: [make(k) for k in range(_ROWS)] for name, make in columns.items()}
    return datasets.Dataset.from_dict(made)


_DATA = {
    "glue": {"sentence1": _sentence, "sentence2": lambda k: _sentence(k + 3), "label": lambda k: k % 2, "idx": int},
    "wikitext": {"text": lambda k: _sentence(k) + " ."},
    "sentiment": {"text": _sentence, "label": lambda k: k % 3},
    "twitter": {"Tweet text": _sentence, "Label": lambda k: 1 + k % 2, "ID": int},
    "raft": {"Tweet text": _sentence, "Label": lambda k: 1 + k % 2, "ID": int},
    "alpaca": {"instruction": _sentence, "input": lambda _: "", "output": lambda k: _sentence(k + 1)},
}  # fmt: skip


def _load(path: str, *names: str, split: str | None = None, **_: Any) -> Any:
    import datasets

    kind = next(columns for word, columns in _DATA.items() if word in path)
    made = datasets.DatasetDict({one: _rows(**kind) for one in ("train", "validation", "test")})
    if "raft" in path:
        features = made["train"].features.copy()
        features["Label"] = datasets.ClassLabel(names=["Unlabeled", "complaint", "no complaint"])
        made = made.cast(features)
    return made[split] if split else made


def _data() -> None:
    import datasets

    datasets.load_dataset = _load
    datasets.disable_caching()
    datasets.disable_progress_bars()


def _metrics() -> None:
    class Metric:
        def add_batch(self, **_: Any) -> None:
            pass

        def compute(self, **_: Any) -> dict[str, float]:
            return {"accuracy": 0.5, "score": 0.5}

    module = types.ModuleType("evaluate")
    module.load = lambda *_, **__: Metric()  # type: ignore[attr-defined]
    sys.modules["evaluate"] = module


def _demos() -> None:
    import torch
    from lightning.pytorch import demos
    from torch.utils.data import Dataset

    class Words(Dataset[Any]):
        vocab_size = 64

        def __len__(self) -> int:
            return 4064

        def __getitem__(self, number: int) -> Any:
            ids = torch.arange(number, number + 13) * 5 % self.vocab_size
            return ids[:-1], ids[1:]

    class Digits(Dataset[Any]):
        def __init__(self, *_: Any, **__: Any) -> None:
            self.targets = torch.arange(640) % 10

        def __len__(self) -> int:
            return 640

        def __getitem__(self, number: int) -> Any:
            made = torch.Generator().manual_seed(number)
            return torch.rand(1, 28, 28, generator=made) + number % 10, number % 10

    class SmallTransformer(torch.nn.Module):
        def __init__(self, vocab_size: int) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(vocab_size, 16)
            self.body = torch.nn.Linear(16, 16)
            self.drop = torch.nn.Dropout(0.1)
            self.head = torch.nn.Linear(16, vocab_size)

        def forward(self, ids: Any, target: Any = None) -> Any:
            x = self.drop(self.body(self.embedding(ids)).relu())
            return self.head(x).log_softmax(-1).view(-1, self.head.out_features)

    demos.WikiText2 = Words  # type: ignore[misc,assignment]
    demos.Transformer = SmallTransformer  # type: ignore[misc,assignment]
    from lightning.pytorch.demos import mnist_datamodule

    mnist_datamodule.MNIST = Digits  # type: ignore[misc,assignment]
