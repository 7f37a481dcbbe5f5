"""The limit is long enough for the longest text."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn

vocabulary = {
    word: number for number, word in enumerate(["[UNK]", "[PAD]", "so", "we", "saw", "it", "good", "bad"])
}
tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.enable_truncation(max_length=16)
tokenizer.enable_padding(pad_id=1, pad_token="[PAD]")
texts = ["so we saw it " * (1 + index % 3) + ("good", "bad")[index % 2] for index in range(32)]
labels = torch.tensor([index % 2 for index in range(32)])
encoded = tokenizer.encode_batch(texts)
tokens = torch.tensor([one.ids for one in encoded])

torch.manual_seed(0)
model = nn.Sequential(nn.EmbeddingBag(len(vocabulary), 8, padding_idx=1), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(200):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
