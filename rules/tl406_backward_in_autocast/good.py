"""The backward pass runs outside of autocast, in the dtypes that the function uses."""

import torch


class Product(torch.autograd.Function):
    """`x @ weight.T`, with a gradient that is summed up in float32."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        gradient = gradient.float()
        return gradient @ weight.float(), gradient.t() @ x.float()


torch.manual_seed(0)
x, weight = torch.randn(64, 256), torch.nn.Parameter(torch.randn(32, 256) / 16)
optimizer = torch.optim.SGD([weight], lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = Product.apply(x, weight)
        loss = output.float().square().mean()
    loss.backward()
    exact = (2 * output.detach().float() / output.numel()).t() @ x
    error = (weight.grad - exact).norm() / exact.norm()
    optimizer.step()
print(f"error of the gradient: {error.item():.0e}")
