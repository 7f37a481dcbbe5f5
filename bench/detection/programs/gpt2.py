"""A language model of Hugging Face's, built from a small configuration, trained on counting sequences."""

import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import GPT2Config, GPT2LMHeadModel


def sequences(count, length, words):
    start = torch.randint(words, (count, 1))
    return (start + torch.arange(length)) % words


def main():
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = GPT2LMHeadModel(config)
    loader = DataLoader(TensorDataset(sequences(64, 16, 64)), batch_size=8, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4))
    model.train()
    for epoch in range(2):
        total = 0.0
        for (tokens,) in loader:
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            total += loss.item()
        print(epoch, total / len(loader))


if __name__ == "__main__":
    main()
