"""What the batches hold, and what the numbers become."""

from bugs.bug import Bug

_LABEL = "label out of range"
_TOKEN = "token out of range"
_DTYPE = "labels of a floating type"
_NAN_IN = "NaN in the input"
_SAME_LABELS = "all labels the same"
_SAME_INPUT = "input constant"
_LOG = "logarithm of 0 or less"
_DIVISION = "division by 0"

_NAN_CODES = "TL212 TL507"
_MNIST_BATCH = "target.to(device)\n        optimizer.zero_grad()\n"

BUGS = (
    Bug(
        _LABEL,
        "mnist",
        "TL507",
        ("main.py", _MNIST_BATCH, "target.to(device) + 1\n        optimizer.zero_grad()\n"),
    ),
    Bug(_LABEL, "tutorial CNN", "TL507", ("main.py", "num_classes = 10\n", "num_classes = 9\n")),
    Bug(_LABEL, "Hugging Face BERT", "TL507", ("bert.py", "tokens[0] % CLASSES", "tokens[0] % CLASSES + 1")),
    Bug(
        _LABEL,
        "pytorch-cifar100",
        "TL507",
        ("models/squeezenet.py", "def squeezenet(class_num=100)", "def squeezenet(class_num=60)"),
    ),
    Bug(
        _TOKEN,
        "nanoGPT",
        "TL705",
        (
            "train.py",
            "= meta_vocab_size if meta_vocab_size is not None else",
            "= meta_vocab_size - 20 if meta_vocab_size is not None else",
        ),
    ),
    Bug(
        _TOKEN, "cnn-text-classification", "TL705", ("main.py", "len(text_vocab)\n", "len(text_vocab) - 8\n")
    ),
    Bug(_TOKEN, "Hugging Face GPT-2", "TL705", ("gpt2.py", "sequences(64, 16, 64)", "sequences(64, 16, 90)")),
    Bug(_TOKEN, "minGPT", "TL705", ("projects/adder/adder.py", "return 10 # digits 0..9", "return 7")),
    Bug(
        _DTYPE,
        "cnn-text-classification",
        "TL507",
        (
            "train.py",
            "loss = F.cross_entropy(logit, target)\n",
            "loss = F.cross_entropy(logit, target.float())\n",
        ),
    ),
    Bug(
        _NAN_IN,
        "mnist",
        _NAN_CODES,
        ("main.py", "transforms.Normalize((0.1307,), (0.3081,))", "transforms.Normalize((0.0,), (0.0,))"),
    ),
    Bug(
        _NAN_IN,
        "siamese_network",
        _NAN_CODES,
        (
            "main.py",
            "self.dataset.data.unsqueeze(1).clone()",
            "(self.dataset.data.unsqueeze(1) * float('nan'))",
        ),
    ),
    Bug(
        _NAN_IN,
        "time_sequence_prediction",
        _NAN_CODES,
        ("train.py", "torch.from_numpy(data[3:, :-1])", "torch.from_numpy(np.sqrt(data[3:, :-1]))"),
    ),
    Bug(
        _SAME_LABELS,
        "mnist",
        "TL507",
        ("main.py", _MNIST_BATCH, "torch.zeros_like(target)\n        optimizer.zero_grad()\n"),
    ),
    Bug(_SAME_LABELS, "Hugging Face BERT", "TL507", ("bert.py", "tokens[0] % CLASSES", "tokens[0] * 0")),
    Bug(
        _SAME_INPUT,
        "tutorial CNN",
        "TL507",
        ("main.py", "        # Forward pass\n", "        images = torch.zeros_like(images)\n"),
    ),
    Bug(
        _SAME_INPUT,
        "vae",
        "TL507",
        (
            "main.py",
            "data = data.to(device)\n        optimizer",
            "data = data.to(device) // 2\n        optimizer",
        ),
    ),
    Bug(
        _LOG,
        "mnist",
        "TL212",
        ("main.py", "x = F.max_pool2d(x, 2)", "x = torch.log(F.max_pool2d(x, 2) - 0.1)"),
    ),
    Bug(_LOG, "vae", "TL212", ("main.py", "torch.sum(1 + logvar", "torch.sum(1 + torch.log(logvar)")),
    Bug(_LOG, "gcn", "TL212", ("main.py", "x = F.relu(x) # Apply", "x = torch.log(F.relu(x)) # Apply")),
    Bug(
        _DIVISION,
        "reinforce",
        "TL212 TL507",
        ("reinforce.py", "/ (returns.std() + eps)", "/ (returns - returns).std()"),
    ),
    Bug(
        _DIVISION,
        "gat",
        "TL212",
        ("main.py", "return self.leakyrelu(e)", "return self.leakyrelu(e) / (e > 0)"),
    ),
    Bug(
        _DIVISION,
        "super_resolution",
        "TL212",
        (
            "model.py",
            "x = self.relu(self.conv3(x))",
            "x = self.relu(self.conv3(x))\n        x = x / x.amax(dim=1, keepdim=True).floor()",
        ),
    ),
)
