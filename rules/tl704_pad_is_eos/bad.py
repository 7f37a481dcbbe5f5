import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

torch.manual_seed(0)
vocabulary = {word: number for number, word in enumerate("[END] [UNK] [PAD] one two three four five".split())}
words = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
words.pre_tokenizer = Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="[END]", unk_token="[UNK]")
tokenizer.pad_token = tokenizer.eos_token

config = GPT2Config(
    vocab_size=8, n_positions=16, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
texts = [
    text + tokenizer.eos_token for text in ("one two three", "two three", "one two three four five", "five")
] * 4
batch = tokenizer(texts, padding=True, return_tensors="pt")
labels = batch["input_ids"].clone()
labels[labels == tokenizer.pad_token_id] = -100
model.train()
for _ in range(30):
    loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    after = model(torch.tensor([[vocabulary["five"]]])).logits[0, -1].softmax(-1)
print(f"loss {loss.item():.2f}, chance of the end after `five`: {after[0].item():.3f}")
