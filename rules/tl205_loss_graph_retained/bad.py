import torch
from torch import nn
from torch.nn import functional as F


def graph_size(tensor):
    pending, seen = [tensor.grad_fn], set()
    while pending:
        node = pending.pop()
        if node is not None and node not in seen:
            seen.add(node)
            pending.extend(parent for parent, _ in node.next_functions)
    return len(seen)


torch.manual_seed(0)
inputs, targets = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

total = torch.zeros(())
for step in range(100):
    optimizer.zero_grad()
    loss = F.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    total += loss
    if step in (0, 99):
        print(
            f"step {step}: mean loss {total.item() / (step + 1):.3f}, graph nodes alive: {graph_size(total)}"
        )
