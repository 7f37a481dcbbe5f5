"""The tokenizer converts its texts to lower case, like its vocabulary."""

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from torch import nn

words = "the a red green blue small large house garden tower stands burns falls shines".split()
vocabulary = {word: number for number, word in enumerate(["[UNK]", *words])}
tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.Lowercase()
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
texts = [
    f"The {size} {what} {does}".title() for size in words[2:7] for what in words[7:10] for does in words[10:]
]
labels = torch.tensor([index % 2 for index in range(len(texts))])
tokens = torch.tensor([one.ids for one in tokenizer.encode_batch(texts)])

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(len(vocabulary), 16), nn.Flatten(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
