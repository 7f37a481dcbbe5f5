"""The model is told which tokens are padding."""

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
torch.set_num_threads(1)
texts = [torch.randint(1, 12, (int(n),)) for n in torch.randint(2, 16, (128,))]
rows = [(text, int((text > 6).sum() * 2 > len(text))) for text in texts]
config = BertConfig(
    vocab_size=12,
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=16,
    pad_token_id=0,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
model = BertForSequenceClassification(config)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


def collate(batch):
    return pad_sequence([text for text, _ in batch], batch_first=True), torch.tensor([y for _, y in batch])


loader = DataLoader(rows, batch_size=16, shuffle=True, collate_fn=collate)
for _ in range(15):
    for ids, labels in loader:
        loss = model(ids, attention_mask=ids != 0, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    alone = [model(text[None]).logits.argmax().item() for text, _ in rows]
print(f"accuracy of texts alone {sum(a == y for a, (_, y) in zip(alone, rows)) / len(rows):.2f}")
