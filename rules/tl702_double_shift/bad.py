import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
text = "the quick brown fox jumps over the lazy dog. " * 20
letters = sorted(set(text))
data = torch.tensor([letters.index(letter) for letter in text])
config = GPT2Config(
    vocab_size=len(letters), n_positions=48, n_embd=64, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(60):
    starts = torch.randint(len(data) - 33, (16,))
    ids = torch.stack([data[i : i + 33] for i in starts])
    loss = model(input_ids=ids[:, :-1], labels=ids[:, 1:]).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
written = data[:4].tolist()
with torch.no_grad():
    for _ in range(40):
        written.append(int(model(torch.tensor([written])).logits[0, -1].argmax()))
print(f"loss {loss.item():.2f}; it writes: {''.join(letters[one] for one in written)!r}")
