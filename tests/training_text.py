"""Training loops that fixes are tried on."""

from __future__ import annotations

TRAINING = """
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    with {autocast}:
        loss = model(torch.ones(2, 4)).mean()
    loss.backward()
    optimizer.step()
"""


def training(imports: str, autocast: str) -> str:
    return f"{imports}\n{TRAINING.format(autocast=autocast)}"
