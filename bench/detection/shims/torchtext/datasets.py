import random
from types import SimpleNamespace

multi30k = SimpleNamespace(URL={})


class TranslationDataset:
    pass


def Multi30k(split, language_pair):
    draw = random.Random(split)
    pairs = []
    for _ in range(64 if split == "train" else 16):
        words = [draw.randrange(30) for _ in range(draw.randrange(4, 12))]
        pairs.append(
            (" ".join(f"wort{word}" for word in words), " ".join(f"word{word}" for word in reversed(words)))
        )
    return pairs
