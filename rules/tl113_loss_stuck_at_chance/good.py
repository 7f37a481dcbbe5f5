import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 20)
y = (x @ torch.randn(20, 100)).argmax(dim=1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 100))

    def forward(self, x):
        return self.layers(x)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(60):
    chosen = torch.randint(512, (64,))
    loss = nn.functional.cross_entropy(model(x[chosen]), y[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}, of guessing {torch.tensor(100.0).log().item():.2f}")
