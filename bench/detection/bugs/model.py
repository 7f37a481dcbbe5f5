"""How the model is built, and what its weights are at first."""

from bugs.bug import Bug

_LIST = "layers in a plain list"
_SUPER = "super().__init__() missing"
_ZERO = "weights all 0 at first"
_CONSTANT = "weights all equal at first"
_LARGE = "weights out of scale at first"
_DEAD = "units that are never active"
_HOST = "device-to-host sync in forward"

_LIST_CODES = "TL309 TL901"
_ZERO_CODES = "TL211 TL907"
_LARGE_CODES = "TL112 TL212 TL213 TL906 TL907"

BUGS = (
    Bug(
        _LIST,
        "cnn-text-classification",
        _LIST_CODES,
        ("model.py", "nn.ModuleList([nn.Conv2d", "list([nn.Conv2d"),
    ),
    Bug(
        _LIST,
        "attention-is-all-you-need",
        _LIST_CODES,
        (
            "transformer/Models.py",
            "nn.ModuleList([\n            DecoderLayer",
            "list([\n            DecoderLayer",
        ),
    ),
    Bug(
        _LIST,
        "mnist",
        _LIST_CODES,
        (
            "main.py",
            "self.fc1 = nn.Linear(9216, 128)\n        self.fc2 = nn.Linear(128, 10)",
            "self.fcs = [nn.Linear(9216, 128), nn.Linear(128, 10)]",
        ),
        ("main.py", "x = self.fc1(x)", "x = self.fcs[0](x)"),
        ("main.py", "x = self.fc2(x)", "x = self.fcs[1](x)"),
    ),
    Bug(
        _LIST,
        "Hugging Face BERT",
        _LIST_CODES,
        (
            "bert.py",
            "self.head = nn.Linear(config.hidden_size, CLASSES)",
            "self.head = {'labels': nn.Linear(config.hidden_size, CLASSES)}",
        ),
        ("bert.py", "self.head(self.dropout(pooled))", "self.head['labels'](self.dropout(pooled))"),
    ),
    Bug(
        _SUPER,
        "tutorial feedforward",
        "TL902",
        ("main.py", "        super(NeuralNet, self).__init__()\n", ""),
    ),
    Bug(_SUPER, "cleanrl dqn", "TL902", ("cleanrl/dqn.py", "        super().__init__()\n", "")),
    Bug(
        _ZERO,
        "mnist",
        _ZERO_CODES,
        (
            "main.py",
            "self.fc2 = nn.Linear(128, 10)\n",
            "self.fc2 = nn.Linear(128, 10)\n        for p in (*self.fc1.parameters(), *self.fc2.parameters()):\n"
            "            nn.init.zeros_(p)\n",
        ),
    ),
    Bug(
        _ZERO,
        "tutorial feedforward",
        _ZERO_CODES,
        (
            "main.py",
            "self.fc2 = nn.Linear(hidden_size, num_classes)",
            "self.fc2 = nn.Linear(hidden_size, num_classes)\n        for p in self.parameters(): p.data.zero_()",
        ),
    ),
    Bug(
        _ZERO,
        "gcn",
        _ZERO_CODES,
        ("main.py", "nn.init.xavier_normal_(self.kernel)", "nn.init.zeros_(self.kernel)"),
    ),
    Bug(
        _CONSTANT,
        "language_translation",
        "TL907",
        ("src/model.py", "nn.init.xavier_uniform_(p)", "nn.init.constant_(p, 0.02)"),
    ),
    Bug(
        _CONSTANT,
        "siamese_network",
        "TL907",
        ("main.py", "torch.nn.init.xavier_uniform_(m.weight)", "torch.nn.init.constant_(m.weight, 0.01)"),
    ),
    Bug(
        _CONSTANT,
        "tutorial feedforward",
        "TL907",
        (
            "main.py",
            "self.fc2 = nn.Linear(hidden_size, num_classes)",
            "self.fc2 = nn.Linear(hidden_size, num_classes)\n        nn.init.ones_(self.fc1.weight)",
        ),
    ),
    Bug(
        _LARGE,
        "nanoGPT",
        _LARGE_CODES,
        (
            "model.py",
            "if isinstance(module, nn.Linear):\n            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)",
            "if isinstance(module, nn.Linear):\n            torch.nn.init.normal_(module.weight, mean=0.0, std=2.0)",
        ),
    ),
    Bug(
        _LARGE,
        "dcgan",
        _LARGE_CODES,
        (
            "main.py",
            "torch.nn.init.normal_(m.weight, 0.0, 0.02)",
            "torch.nn.init.normal_(m.weight, 0.0, 20.0)",
        ),
    ),
    Bug(
        _LARGE,
        "mnist",
        _LARGE_CODES,
        (
            "main.py",
            "self.fc2 = nn.Linear(128, 10)\n",
            "self.fc2 = nn.Linear(128, 10)\n        nn.init.normal_(self.fc1.weight, std=10)\n",
        ),
    ),
    Bug(
        _DEAD,
        "tutorial feedforward",
        "TL906 TL211",
        (
            "main.py",
            "self.fc2 = nn.Linear(hidden_size, num_classes)",
            "self.fc2 = nn.Linear(hidden_size, num_classes)\n        nn.init.constant_(self.fc1.bias, -50.)",
        ),
    ),
    Bug(
        _DEAD,
        "super_resolution",
        "TL906 TL211",
        (
            "model.py",
            "init.orthogonal_(self.conv4.weight)",
            "init.orthogonal_(self.conv4.weight)\n        init.constant_(self.conv3.bias, -100.)",
        ),
    ),
    Bug(
        _HOST,
        "minGPT",
        "TL809",
        (
            "mingpt/model.py",
            "        x = self.transformer.ln_f(x)\n",
            "        x = self.transformer.ln_f(x)\n        self.scale = x.std().item()\n",
        ),
    ),
    Bug(
        _HOST,
        "mnist_rnn",
        "TL809",
        (
            "main.py",
            "        output = self.batchnorm(output)\n",
            "        output = self.batchnorm(output)\n        self.seen = output.detach().cpu().numpy()\n",
        ),
    ),
    Bug(
        _HOST,
        "cnn-text-classification",
        "TL809",
        (
            "model.py",
            "        x = self.embed(x)  # (N, W, D)\n",
            "        longest = (x != 0).sum(dim=1).max().item()\n        x = self.embed(x[:, :max(longest, 5)])\n",
        ),
    ),
    Bug(
        _HOST,
        "Hugging Face BERT",
        "TL809 TL202 TL210",
        (
            "bert.py",
            "        return self.head(self.dropout(pooled))",
            "        return self.head(self.dropout(torch.from_numpy(pooled.detach().numpy())))",
        ),
    ),
)
