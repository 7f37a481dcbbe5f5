"""What belongs into each round of training and validation, and in which order."""

from bugs.bug import Bug

_NO_BACKWARD = "backward removed"
_SCHEDULER = "scheduler steps before the optimizer"
_CLIP = "gradients clipped after the step"
_ACCUMULATED = "accumulated losses not divided"
_TRAIN = "validation in training mode"
_REBUILT = "scheduler re-created in each epoch"

_BODY = """        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
"""
_FOUR = """        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        if (batch_idx + 1) % 4 == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
"""
_BUILD = "    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)\n"
_EPOCHS = "    for epoch in range(1, args.epochs + 1):\n"
_MNIST_EPOCH = """        train(args, model, device, train_loader, optimizer, epoch)
        test(model, device, test_loader)
        scheduler.step()
"""
_RNN_EPOCH = _MNIST_EPOCH.replace("test(model", "test(args, model")
_SAMPLE = "    model.eval()\n    test_loss = 0"


def _first(epoch: str) -> str:
    return "        scheduler.step()\n" + epoch.replace("        scheduler.step()\n", "")


BUGS = (
    Bug(_NO_BACKWARD, "mnist", "TL306", ("main.py", "        loss.backward()\n", "")),
    Bug(_NO_BACKWARD, "vae", "TL306", ("main.py", "        loss.backward()\n", "")),
    Bug(_NO_BACKWARD, "gan", "TL302 TL306", ("gan.py", "        d_loss.backward()\n", "")),
    Bug(_NO_BACKWARD, "minGPT", "TL306", ("mingpt/trainer.py", "            self.loss.backward()\n", "")),
    Bug(_NO_BACKWARD, "attention-is-all-you-need", "TL306", ("train.py", "        loss.backward()\n", "")),
    Bug(_NO_BACKWARD, "cnn-text-classification", "TL306", ("train.py", "            loss.backward()\n", "")),
    Bug(_NO_BACKWARD, "Hugging Face GPT-2", "TL306", ("gpt2.py", "            loss.backward()\n", "")),
    Bug(
        _NO_BACKWARD,
        "cleanrl ddpg",
        "TL302 TL303 TL306",
        ("cleanrl/ddpg_continuous_action.py", "            qf1_loss.backward()\n", ""),
    ),
    Bug(_SCHEDULER, "mnist", "TL304", ("main.py", _MNIST_EPOCH, _first(_MNIST_EPOCH))),
    Bug(_SCHEDULER, "mnist_rnn", "TL304", ("main.py", _RNN_EPOCH, _first(_RNN_EPOCH))),
    Bug(
        _SCHEDULER,
        "Hugging Face GPT-2",
        "TL304",
        (
            "gpt2.py",
            "            optimizer.step()\n            scheduler.step()\n",
            "            scheduler.step()\n            optimizer.step()\n",
        ),
    ),
    Bug(
        _SCHEDULER,
        "pytorch-cifar100",
        "TL304",
        ("train.py", "        if epoch <= args.warm:\n            warmup_scheduler.step()\n", ""),
        (
            "train.py",
            "        optimizer.zero_grad()\n",
            "        warmup_scheduler.step()\n        optimizer.zero_grad()\n",
        ),
    ),
    Bug(
        _CLIP,
        "minGPT",
        "TL313",
        (
            "mingpt/trainer.py",
            "            torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_norm_clip)\n"
            "            self.optimizer.step()\n",
            "            self.optimizer.step()\n"
            "            torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_norm_clip)\n",
        ),
    ),
    Bug(
        _CLIP,
        "Hugging Face GPT-2",
        "TL313",
        (
            "gpt2.py",
            "            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n            optimizer.step()\n",
            "            optimizer.step()\n            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
        ),
    ),
    Bug(
        _CLIP,
        "cleanrl ppo",
        "TL313",
        (
            "cleanrl/ppo.py",
            "                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)\n"
            "                optimizer.step()\n",
            "                optimizer.step()\n"
            "                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)\n",
        ),
    ),
    Bug(
        _CLIP,
        "mnist",
        "TL313",
        (
            "main.py",
            "        optimizer.step()\n",
            "        optimizer.step()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
        ),
    ),
    Bug(
        _ACCUMULATED,
        "nanoGPT",
        "TL314",
        (
            "train.py",
            "            loss = loss / gradient_accumulation_steps # scale the loss to account for gradient accumulation\n",
            "",
        ),
    ),
    Bug(_ACCUMULATED, "mnist", "TL314", ("main.py", _BODY, _FOUR)),
    Bug(_ACCUMULATED, "mnist_rnn", "TL314", ("main.py", _BODY, _FOUR)),
    Bug(
        _ACCUMULATED,
        "Hugging Face BERT",
        "TL314",
        ("bert.py", "for tokens, labels in loader:", "for index, (tokens, labels) in enumerate(loader):"),
        ("bert.py", "            optimizer.zero_grad()\n", ""),
        (
            "bert.py",
            "            optimizer.step()\n",
            "            if index % 4 == 3:\n                nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n                optimizer.step()\n                optimizer.zero_grad()\n",
        ),
    ),
    Bug(_TRAIN, "mnist", "TL311", ("main.py", _SAMPLE, "    test_loss = 0")),
    Bug(_TRAIN, "mnist_rnn", "TL311", ("main.py", _SAMPLE, "    test_loss = 0")),
    Bug(_TRAIN, "pytorch-cifar100", "TL311", ("train.py", "    net.eval()\n", "")),
    Bug(_TRAIN, "attention-is-all-you-need", "TL311", ("train.py", "    model.eval()\n", "")),
    Bug(
        _TRAIN,
        "language_translation",
        "TL311",
        (
            "main.py",
            "    # Turn off gradients a moment\n    model.eval()\n",
            "",
        ),
    ),
    Bug(
        _TRAIN,
        "cnn-text-classification",
        "TL311",
        ("train.py", "    model.eval()\n    corrects, avg_loss = 0, 0\n", "    corrects, avg_loss = 0, 0\n"),
    ),
    Bug(_TRAIN, "tutorial CNN", "TL311", ("main.py", "model.eval()  #", "#")),
    Bug(_REBUILT, "mnist", "TL307", ("main.py", _BUILD + _EPOCHS, _EPOCHS + "    " + _BUILD)),
    Bug(_REBUILT, "mnist_rnn", "TL307", ("main.py", _BUILD + _EPOCHS, _EPOCHS + "    " + _BUILD)),
    Bug(_REBUILT, "siamese_network", "TL307", ("main.py", _BUILD + _EPOCHS, _EPOCHS + "    " + _BUILD)),
    Bug(
        "scaler re-created for each batch",
        "mnist",
        "TL307",
        (
            "main.py",
            _BODY,
            _BODY.replace(
                "        loss.backward()\n        optimizer.step()\n",
                "        scaler = torch.amp.GradScaler('cpu')\n        scaler.scale(loss).backward()\n"
                "        scaler.step(optimizer)\n        scaler.update()\n",
            ),
        ),
    ),
)
