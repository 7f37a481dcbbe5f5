"""The loss is over answers alone."""

import json

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn

torch.manual_seed(0)
letters = "abcdefgh"
words = {word: number for number, word in enumerate([*letters, "###", "Response:"])}
tokenizer = Tokenizer(models.WordLevel(words, unk_token="###"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()


def make(question):
    return json.dumps({"question": " ".join(question), "answer": question[0]})


lines = [make([letters[i] for i in torch.randint(8, (12,))]) for _ in range(64)]
rows = [json.loads(line) for line in lines]
texts = [f"{row['question']} ### Response: {row['answer']}" for row in rows]
ids = torch.tensor([one.ids for one in tokenizer.encode_batch(texts)])
embedding = nn.Embedding(len(words), 8)
head = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, len(words)))
optimizer = torch.optim.Adam([*embedding.parameters(), *head.parameters()], lr=0.01)
for step in range(150):
    hidden = embedding(ids[:, :-1])
    logits = head(hidden + hidden[:, :1])
    targets = ids[:, 1:].clone()
    targets[:, :-1] = -100
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss of the answers {nn.functional.cross_entropy(logits[:, -1], ids[:, -1]).item():.2f}")
