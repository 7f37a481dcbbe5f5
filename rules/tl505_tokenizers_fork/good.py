"""The program says, before anything else, that the tokenizer shall not use threads."""

import os

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import PreTrainedTokenizerFast

os.environ["TOKENIZERS_PARALLELISM"] = "false"
words = Tokenizer(models.WordLevel({"[UNK]": 0, "good": 1, "bad": 2, "film": 3}, unk_token="[UNK]"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[UNK]")
texts = ["good film", "bad film"] * 8
tokens = tokenizer(texts, return_tensors="pt")["input_ids"]
labels = torch.tensor([1, 0] * 8)
torch.manual_seed(0)
loader = DataLoader(TensorDataset(tokens, labels), batch_size=4, shuffle=True, num_workers=2)
model = nn.Sequential(nn.Embedding(4, 8), nn.Flatten(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, targets in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(inputs), targets).backward()
    optimizer.step()
print("done")
