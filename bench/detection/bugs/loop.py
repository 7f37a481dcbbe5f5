"""The order of the steps of the training loop."""

from bugs.bug import Bug

_NO_ZERO = "zero_grad removed"
_WIPED = "zero_grad between backward and step"
_EARLY = "step before backward"
_NO_STEP = "step removed"
_EVAL = "training in eval mode"
_AGAIN = "optimizer re-created in the loop"

_MNIST = "        optimizer.zero_grad()\n        output = model(data)"
_STEP = "        loss.backward()\n        optimizer.step()\n"
_WIPE = "        loss.backward()\n        optimizer.zero_grad()\n        optimizer.step()\n"
_FIRST = "        optimizer.step()\n        loss.backward()\n"


def _deeper(text: str, spaces: int) -> str:
    return "".join(" " * spaces + line for line in text.splitlines(keepends=True))


BUGS = (
    Bug(_NO_ZERO, "mnist", "TL301", ("main.py", _MNIST, "        output = model(data)")),
    Bug(
        _NO_ZERO,
        "minGPT",
        "TL301",
        ("mingpt/trainer.py", "            model.zero_grad(set_to_none=True)\n", ""),
    ),
    Bug(_NO_ZERO, "nanoGPT", "TL301", ("train.py", "    optimizer.zero_grad(set_to_none=True)\n", "")),
    Bug(_NO_ZERO, "gan", "TL301", ("gan.py", "        optimizer_D.zero_grad()\n", "")),
    Bug(_NO_ZERO, "dcgan", "TL301", ("main.py", "        netG.zero_grad()\n", "")),
    Bug(_NO_ZERO, "gcn", "TL301", ("main.py", "    optimizer.zero_grad()\n", "")),
    Bug(
        _NO_ZERO, "cnn-text-classification", "TL301", ("train.py", "            optimizer.zero_grad()\n", "")
    ),
    Bug(_NO_ZERO, "attention-is-all-you-need", "TL301", ("train.py", "        optimizer.zero_grad()\n", "")),
    Bug(_NO_ZERO, "cleanrl dqn", "TL301", ("cleanrl/dqn.py", "                optimizer.zero_grad()\n", "")),
    Bug(_NO_ZERO, "reinforce", "TL301", ("reinforce.py", "    optimizer.zero_grad()\n", "")),
    Bug(_NO_ZERO, "Hugging Face GPT-2", "TL301", ("gpt2.py", "            optimizer.zero_grad()\n", "")),
    Bug(_WIPED, "mnist", "TL302", ("main.py", _STEP, _WIPE)),
    Bug(_WIPED, "siamese_network", "TL302", ("main.py", _STEP, _WIPE)),
    Bug(
        _WIPED,
        "minGPT",
        "TL302",
        (
            "mingpt/trainer.py",
            "            self.loss.backward()\n",
            "            self.loss.backward()\n            model.zero_grad()\n",
        ),
    ),
    Bug(
        _WIPED,
        "gan",
        "TL302",
        (
            "gan.py",
            "        d_loss.backward()\n",
            "        d_loss.backward()\n        optimizer_D.zero_grad()\n",
        ),
    ),
    Bug(_WIPED, "Hugging Face BERT", "TL302", ("bert.py", _deeper(_STEP, 4), _deeper(_WIPE, 4))),
    Bug(
        _WIPED,
        "cleanrl ppo",
        "TL302",
        (
            "cleanrl/ppo.py",
            "                optimizer.zero_grad()\n                loss.backward()\n",
            "                loss.backward()\n                optimizer.zero_grad()\n",
        ),
    ),
    Bug(_EARLY, "mnist", "TL302 TL303", ("main.py", _STEP, _FIRST)),
    Bug(_EARLY, "tutorial CNN", "TL302 TL303", ("main.py", _STEP, _FIRST)),
    Bug(
        _EARLY, "cnn-text-classification", "TL302 TL303", ("train.py", _deeper(_STEP, 4), _deeper(_FIRST, 4))
    ),
    Bug(
        _EARLY,
        "attention-is-all-you-need",
        "TL302 TL303",
        (
            "train.py",
            "        loss.backward()\n        optimizer.step_and_update_lr()\n",
            "        optimizer.step_and_update_lr()\n        loss.backward()\n",
        ),
    ),
    Bug(
        _EARLY,
        "cleanrl ddpg",
        "TL302 TL303",
        (
            "cleanrl/ddpg_continuous_action.py",
            "                actor_loss.backward()\n                actor_optimizer.step()\n",
            "                actor_optimizer.step()\n                actor_loss.backward()\n",
        ),
    ),
    Bug(_NO_STEP, "mnist", "TL305", ("main.py", "        optimizer.step()\n", "")),
    Bug(_NO_STEP, "super_resolution", "TL305", ("main.py", "        optimizer.step()\n", "")),
    Bug(_NO_STEP, "minGPT", "TL305", ("mingpt/trainer.py", "            self.optimizer.step()\n", "")),
    Bug(_NO_STEP, "dcgan", "TL305", ("main.py", "        optimizerG.step()\n", "")),
    Bug(_NO_STEP, "gan", "TL305", ("gan.py", "        optimizer_D.step()\n", "")),
    Bug(_NO_STEP, "language_translation", "TL305", ("main.py", "        optim.step()\n", "")),
    Bug(_NO_STEP, "Hugging Face GPT-2", "TL305", ("gpt2.py", "            optimizer.step()\n", "")),
    Bug(_EVAL, "mnist", "TL310", ("main.py", "    model.train()\n", "    model.eval()\n")),
    Bug(_EVAL, "mnist_rnn", "TL310", ("main.py", "    model.train()\n", "")),
    Bug(_EVAL, "pytorch-cifar100", "TL310", ("train.py", "    net.train()\n", "    net.eval()\n")),
    Bug(_EVAL, "attention-is-all-you-need", "TL310", ("train.py", "    model.train()\n", "")),
    Bug(_EVAL, "language_translation", "TL310", ("main.py", "    model.train()\n", "")),
    Bug(
        _EVAL, "Hugging Face BERT", "TL310", ("bert.py", "        model.train()\n", "        model.eval()\n")
    ),
    Bug(
        _AGAIN,
        "mnist",
        "TL307",
        ("main.py", _MNIST, "        optimizer = optim.Adadelta(model.parameters(), lr=args.lr)\n" + _MNIST),
    ),
    Bug(
        _AGAIN,
        "vae",
        "TL307",
        (
            "main.py",
            "        optimizer.zero_grad()\n",
            "        optimizer = optim.Adam(model.parameters(), lr=1e-3)\n        optimizer.zero_grad()\n",
        ),
    ),
    Bug(
        _AGAIN,
        "gcn",
        "TL307",
        (
            "main.py",
            "    model.train()\n    optimizer.zero_grad()\n",
            "    model.train()\n    optimizer = Adam(model.parameters(), lr=0.01)\n    optimizer.zero_grad()\n",
        ),
    ),
)
