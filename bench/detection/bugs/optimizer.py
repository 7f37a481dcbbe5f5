"""What the optimizer holds, and how far it moves."""

from bugs.bug import Bug

_PART = "optimizer over one layer only"
_ANOTHER = "optimizer over another model"
_REPLACED = "layer replaced after the optimizer was created"
_FROZEN = "random layer frozen"
_STILL = "learning rate of 0"
_HIGH = "learning rate 10,000 times too high"

_FROZEN_CODES = "TL210 TL309 TL315"
_STILL_CODES = "TL315 TL316"
_HIGH_CODES = "TL212 TL213 TL316"

BUGS = (
    Bug(
        _PART,
        "mnist",
        "TL309",
        ("main.py", "optim.Adadelta(model.parameters()", "optim.Adadelta(model.fc2.parameters()"),
    ),
    Bug(_PART, "gat", "TL309", ("main.py", "Adam(gat_net.parameters()", "Adam(gat_net.gat2.parameters()")),
    Bug(
        _PART,
        "Hugging Face BERT",
        "TL309",
        ("bert.py", "AdamW(model.parameters()", "AdamW(model.head.parameters()"),
    ),
    Bug(_PART, "tutorial CNN", "TL309", ("main.py", "Adam(model.parameters()", "Adam(model.fc.parameters()")),
    Bug(
        _PART,
        "language_translation",
        "TL309",
        ("main.py", "Adam(model.parameters()", "Adam(model.ff.parameters()"),
    ),
    Bug(
        _PART,
        "lightning-hydra-template",
        "TL309",
        (
            "src/models/mnist_module.py",
            "params=self.trainer.model.parameters()",
            "params=self.net.model[-1].parameters()",
        ),
    ),
    Bug(
        _PART,
        "actor_critic",
        "TL309",
        ("actor_critic.py", "Adam(model.parameters()", "Adam(model.action_head.parameters()"),
    ),
    Bug(_ANOTHER, "dcgan", "TL309", ("main.py", "Adam(netG.parameters()", "Adam(netD.parameters()")),
    Bug(
        _ANOTHER, "gan", "TL309", ("gan.py", "Adam(generator.parameters()", "Adam(discriminator.parameters()")
    ),
    Bug(
        _ANOTHER,
        "cleanrl ddpg",
        "TL309",
        (
            "cleanrl/ddpg_continuous_action.py",
            "Adam(list(actor.parameters())",
            "Adam(list(target_actor.parameters())",
        ),
    ),
    Bug(_ANOTHER, "vae", "TL309", ("main.py", "Adam(model.parameters()", "Adam(VAE().parameters()")),
    Bug(
        _REPLACED,
        "tutorial CNN",
        "TL309",
        (
            "main.py",
            "# Train the model\n",
            "model.fc = nn.Linear(7*7*32, num_classes).to(device)\n\n# Train the model\n",
        ),
    ),
    Bug(
        _REPLACED,
        "pytorch-cifar100",
        "TL309",
        (
            "train.py",
            "    train_scheduler = ",
            "    net.conv10 = nn.Conv2d(512, 100, 1)\n    train_scheduler = ",
        ),
    ),
    Bug(
        _FROZEN,
        "mnist",
        _FROZEN_CODES,
        (
            "main.py",
            "self.conv2 = nn.Conv2d(32, 64, 3, 1)\n",
            "self.conv2 = nn.Conv2d(32, 64, 3, 1).requires_grad_(False)\n",
        ),
    ),
    Bug(
        _FROZEN,
        "Hugging Face GPT-2",
        _FROZEN_CODES,
        (
            "gpt2.py",
            "    model.train()\n",
            "    model.transformer.h.requires_grad_(False)\n    model.train()\n",
        ),
    ),
    Bug(
        _STILL,
        "mnist",
        _STILL_CODES,
        ("main.py", "model.parameters(), lr=args.lr", "model.parameters(), lr=0.0"),
    ),
    Bug(_STILL, "vae", _STILL_CODES, ("main.py", "lr=1e-3", "lr=0")),
    Bug(
        _STILL,
        "minGPT",
        _STILL_CODES,
        ("projects/adder/adder.py", "learning_rate = 5e-4", "learning_rate = 0.0"),
    ),
    Bug(_STILL, "Hugging Face BERT", _STILL_CODES, ("bert.py", "lr=5e-4", "lr=0.0")),
    Bug(_HIGH, "vae", _HIGH_CODES, ("main.py", "lr=1e-3", "lr=1e1")),
    Bug(
        _HIGH,
        "minGPT",
        _HIGH_CODES,
        ("projects/adder/adder.py", "learning_rate = 5e-4", "learning_rate = 5.0"),
    ),
    Bug(_HIGH, "Hugging Face BERT", _HIGH_CODES, ("bert.py", "lr=5e-4", "lr=5.0")),
    Bug(_HIGH, "tutorial CNN", _HIGH_CODES, ("main.py", "learning_rate = 0.001", "learning_rate = 10.0")),
)
