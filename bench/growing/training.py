"""What training loops repeat: losses, optimizers, schedulers, modes, checkpoints."""

from __future__ import annotations

from .program import Program, pattern, repeated, script


@pattern
def losses_summed(n: int) -> Program:
    """A loss of many terms."""
    return script(loss=repeated(n, "loss = loss + 0.{next} * F.mse_loss(scores, torch.zeros_like(scores))"))


@pattern
def losses_doubled(n: int) -> Program:
    """`loss = loss + loss`."""
    return script(loss=repeated(n, "loss = loss + loss"))


@pattern
def losses_weighted_by_themselves(n: int) -> Program:
    """`loss = loss / loss.detach()`."""
    return script(loss=repeated(n, "loss = loss / (loss.detach() + 1e-{next}) + loss"))


@pattern
def losses_doubled_under_flags(n: int) -> Program:
    """`loss = loss + loss` where an option asks for it."""
    return script(loss=repeated(n, "if len(sys.argv) > {i}:", "    loss = loss + loss * 0.5"))


@pattern
def backwards_in_row(n: int) -> Program:
    """One backward after the other."""
    return script(after=repeated(n, "loss = criterion(model(x), y) / {next}", "loss.backward()"))


@pattern
def steps_in_row(n: int) -> Program:
    """A whole step, written out again and again."""
    return script(
        after=repeated(
            n,
            "optimizer.zero_grad()",
            "loss = criterion(model(x), y)",
            "loss.backward()",
            "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
            "optimizer.step()",
        )
    )


@pattern
def optimizers(n: int) -> Program:
    """An optimizer for each of many models."""
    return script(
        before=repeated(
            n,
            "model{i} = nn.Linear(32, 32).to(device)",
            "optimizer{i} = torch.optim.SGD(model{i}.parameters(), lr=0.1)",
        ),
        after=repeated(
            n, "optimizer{i}.zero_grad()", "criterion(model{i}(x), y).backward()", "optimizer{i}.step()"
        ),
    )


@pattern
def optimizers_of_one_model(n: int) -> Program:
    """Many optimizers that hold the same parameters."""
    return script(
        before=repeated(n, "optimizer{i} = torch.optim.SGD(model.parameters(), lr=0.1)"),
        after=repeated(
            n, "optimizer{i}.zero_grad()", "criterion(model(x), y).backward()", "optimizer{i}.step()"
        ),
    )


@pattern
def adversaries(n: int) -> Program:
    """Generators and discriminators in turn, each judged by the one before."""
    return script(
        before=repeated(
            n, "net{i} = nn.Linear(32, 32).to(device)", "opt{i} = torch.optim.Adam(net{i}.parameters())"
        )
        + "\nbce = nn.BCEWithLogitsLoss()",
        after="fake = x\n"
        + repeated(
            n,
            "fake = net{i}(fake)",
            "opt{i}.zero_grad()",
            "bce(net{i}(fake.detach()), torch.ones_like(fake)).backward()",
            "opt{i}.step()",
        ),
    )


@pattern
def schedulers(n: int) -> Program:
    """Schedulers of schedulers."""
    return script(
        before="scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)\n"
        + repeated(
            n,
            "scheduler = torch.optim.lr_scheduler.ChainedScheduler([scheduler, torch.optim.lr_scheduler.StepLR(optimizer, {next})])",
        ),
        epoch="scheduler.step()",
    )


@pattern
def modes_in_turn(n: int) -> Program:
    """From training to evaluation and back, many times."""
    return script(after=repeated(n, "model.eval()", "with torch.no_grad():", "    model(x)", "model.train()"))


@pattern
def validations(n: int) -> Program:
    """Validated on one set after the other."""
    return script(
        epoch=repeated(
            n,
            "model.eval()",
            "correct{i} = 0",
            "with torch.no_grad():",
            "    for x, y in loader:",
            "        correct{i} += (model(x).argmax(-1) == y).sum().item()",
        )
    )


@pattern
def frozen_layers(n: int) -> Program:
    """Layers that are frozen one by one."""
    return script(
        init=repeated(n, "self.layer{i} = nn.Linear(32, 32)"),
        forward=repeated(n, "h = self.layer{i}(h)"),
        made=repeated(
            n, "for p in model.layer{i}.parameters():", "    p.requires_grad = len(sys.argv) > {i}"
        ),
    )


@pattern
def checkpoints(n: int) -> Program:
    """Saved and loaded, many times."""
    return script(
        epoch=repeated(
            n,
            "torch.save({{'model': model.state_dict(), 'optimizer': optimizer.state_dict()}}, 'part{i}.pt')",
            "state{i} = torch.load('part{i}.pt', weights_only=True)",
            "model.load_state_dict(state{i}['model'])",
        )
    )


@pattern
def states_changed(n: int) -> Program:
    """A state dict that is renamed key by key, each time into a new one."""
    return script(
        made="state = model.state_dict()\n"
        + repeated(n, "state = {{key.replace('a{i}', 'b'): one for key, one in state.items()}}")
        + "\nmodel.load_state_dict(state)"
    )


@pattern
def metrics(n: int) -> Program:
    """Many sums over batches."""
    return script(
        before=repeated(n, "sum{i} = 0.0"),
        after=repeated(n, "sum{i} += (scores.argmax(-1) == {i}).float().mean()"),
    )


@pattern
def histories(n: int) -> Program:
    """Losses kept in lists of lists."""
    return script(
        before=repeated(n, "history{i} = []"),
        after=repeated(n, "history{i}.append(loss if len(sys.argv) > {i} else loss.item())"),
    )


@pattern
def loaders(n: int) -> Program:
    """Data sets of data sets, each with a loader."""
    return script(
        before=repeated(
            n,
            "data = torch.utils.data.ConcatDataset([data, data])",
            "loader{i} = DataLoader(data, batch_size={next}, shuffle=True)",
        ),
        epoch=repeated(
            n,
            "for x, y in loader{i}:",
            "    optimizer.zero_grad()",
            "    criterion(model(x), y).backward()",
            "    optimizer.step()",
        ),
    )


@pattern
def splits(n: int) -> Program:
    """`train, rest = random_split(rest)`."""
    return script(
        before="rest = data\n"
        + repeated(n, "part{i}, rest = torch.utils.data.random_split(rest, [0.5, 0.5])"),
        end="for x, y in DataLoader(rest):\n    model(x)",
    )


@pattern
def accumulated_by_hand(n: int) -> Program:
    """Steps that are left out, each by a rule of its own."""
    return script(
        after=repeated(
            n, "if (epoch + {i}) % {next} == 0:", "    optimizer.step()", "    optimizer.zero_grad()"
        )
    )


@pattern
def gradients_by_hand(n: int) -> Program:
    """`torch.autograd.grad` of gradients of gradients."""
    return script(
        loss="grads = torch.autograd.grad(loss, model.parameters(), create_graph=True)\n"
        + repeated(
            n,
            "grads = torch.autograd.grad(sum(g.sum() for g in grads), model.parameters(), create_graph=True)",
        )
        + "\nloss = loss + sum(g.pow(2).sum() for g in grads)"
    )


@pattern
def inner_loops(n: int) -> Program:
    """Weights that are updated by hand in each step, as in meta-learning."""
    return script(
        before="fast = [p.clone() for p in model.parameters()]",
        loss=repeated(
            n,
            "grads = torch.autograd.grad(F.cross_entropy(F.linear(x, fast[0]), y), fast, create_graph=True)",
            "fast = [p - 0.1 * g for p, g in zip(fast, grads)]",
        ),
    )


@pattern
def rollouts(n: int) -> Program:
    """Returns of reinforcement learning: `r = reward + 0.9 * r`."""
    return script(
        step="r = torch.zeros(8)\n" + repeated(n, "r = x[:, {i} % 32] + 0.9 * r * (1 - (r > 0).float())"),
        loss="loss = loss + (scores.mean(-1) - r).pow(2).mean()",
    )


@pattern
def distillation(n: int) -> Program:
    """Students, each taught by the one before."""
    return script(
        before="student0 = model\n"
        + repeated(
            n,
            "student{next} = Net().to(device)",
            "optimizer.add_param_group({{'params': student{next}.parameters()}})",
        ),
        loss=repeated(
            n,
            "loss = loss + F.kl_div(F.log_softmax(student{next}(x), -1), F.softmax(student{i}(x), -1), reduction='batchmean')",
        ),
    )


@pattern
def distributed_wrappers(n: int) -> Program:
    """A model in DDP in compile in DDP."""
    return script(
        made=repeated(
            n,
            "model = nn.parallel.DistributedDataParallel(model) if len(sys.argv) > {i} else torch.compile(model)",
        )
    )


@pattern
def rechecked(n: int) -> Program:
    """Gradient checkpoints, in a row."""
    return script(
        init=repeated(n, "self.layer{i} = nn.Linear(32, 32)"),
        forward=repeated(n, "h = torch.utils.checkpoint.checkpoint(self.layer{i}, h, use_reentrant=False)"),
    )
