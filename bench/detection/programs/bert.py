"""A classifier on Hugging Face's BERT, built from a small configuration, on padded sequences."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from transformers import BertConfig, BertModel

PAD, WORDS, CLASSES = 0, 64, 4


class Classifier(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.bert = BertModel(config)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(config.hidden_size, CLASSES)

    def forward(self, tokens, mask):
        pooled = self.bert(input_ids=tokens, attention_mask=mask).pooler_output
        return self.head(self.dropout(pooled))


def samples(count):
    made = torch.Generator().manual_seed(0)
    for _ in range(count):
        length = int(torch.randint(4, 13, (1,), generator=made))
        tokens = torch.randint(1, WORDS, (length,), generator=made)
        yield tokens, tokens[0] % CLASSES


def collate(batch):
    tokens = nn.utils.rnn.pad_sequence([one for one, _ in batch], batch_first=True, padding_value=PAD)
    return tokens, torch.stack([label for _, label in batch])


def main():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    model = Classifier(config)
    loader = DataLoader(list(samples(64)), batch_size=8, shuffle=True, collate_fn=collate)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for epoch in range(2):
        model.train()
        for tokens, labels in loader:
            mask = (tokens != PAD).long()
            optimizer.zero_grad()
            logits = model(tokens, mask)
            loss = F.cross_entropy(logits, labels)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
