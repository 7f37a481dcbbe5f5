"""A loss of one's own is a mean of each batch, and the trainer sums four of them for a step."""

import tempfile

import torch
import transformers
from accelerate.utils import set_seed
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

transformers.utils.logging.disable_progress_bar()


class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits, labels, label_smoothing=0.1)
        return (loss, outputs) if return_outputs else loss


set_seed(0)
config = BertConfig(
    vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
)
model = BertForSequenceClassification(config)
rows = [{"input_ids": torch.randint(20, (8,)), "labels": torch.tensor(i % 2)} for i in range(64)]
with tempfile.TemporaryDirectory() as folder:
    settings = TrainingArguments(
        folder,
        gradient_accumulation_steps=4,
        per_device_train_batch_size=4,
        max_steps=2,
        learning_rate=1e-5,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        logging_strategy="no",
    )
    trainer = Weighted(model=model, args=settings, train_dataset=rows)
    print(f"loss of two classes that the model guesses: {trainer.train().training_loss:.2f}")
