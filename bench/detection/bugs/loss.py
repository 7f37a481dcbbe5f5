"""What the model hands to the loss."""

from bugs.bug import Bug

_NO_LOG = "log-softmax missing before NLL"
_PROBABILITIES = "softmax in place of log-softmax before NLL"
_SOFTMAX = "softmax before cross-entropy"
_LOGITS = "sigmoid missing before BCE"
_SIGMOID = "sigmoid before BCE with logits"
_SWAPPED = "loss arguments swapped"
_BROADCAST = "loss of [N, 1] against [N]"
_CLASSES = "class dimension not second"

_TRAIN_SIAMESE = "    criterion = nn.BCELoss()\n\n    for batch_idx"
_CE = "F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)"

BUGS = (
    Bug(_NO_LOG, "mnist", "TL103", ("main.py", "output = F.log_softmax(x, dim=1)", "output = x")),
    Bug(_NO_LOG, "mnist_rnn", "TL103", ("main.py", "        output = F.log_softmax(output, dim=1)\n", "")),
    Bug(_NO_LOG, "gcn", "TL103", ("main.py", "return F.log_softmax(x, dim=1)", "return x")),
    Bug(_NO_LOG, "gat", "TL103", ("main.py", "return F.log_softmax(x, dim=1)", "return x")),
    Bug(_PROBABILITIES, "mnist", "TL103", ("main.py", "F.log_softmax(x, dim=1)", "F.softmax(x, dim=1)")),
    Bug(_PROBABILITIES, "gat", "TL103", ("main.py", "F.log_softmax(x, dim=1)", "F.softmax(x, dim=1)")),
    Bug(
        _SOFTMAX,
        "cnn-text-classification",
        "TL101",
        ("model.py", "logit = self.fc1(x)", "logit = F.softmax(self.fc1(x), dim=1)"),
    ),
    Bug(
        _SOFTMAX,
        "pytorch-cifar100",
        "TL101",
        (
            "models/squeezenet.py",
            "x = x.view(x.size(0), -1)\n\n        return x",
            "x = x.view(x.size(0), -1)\n\n        return torch.softmax(x, dim=1)",
        ),
    ),
    Bug(
        _SOFTMAX,
        "tutorial CNN",
        "TL101",
        (
            "main.py",
            "out = self.fc(out)\n        return out",
            "out = self.fc(out)\n        return out.softmax(dim=1)",
        ),
    ),
    Bug(
        _SOFTMAX,
        "minGPT",
        "TL101",
        (
            "mingpt/model.py",
            "logits = self.lm_head(x)\n",
            "logits = F.softmax(self.lm_head(x), dim=-1)\n",
        ),
    ),
    Bug(
        _SOFTMAX,
        "attention-is-all-you-need",
        "TL101",
        (
            "transformer/Models.py",
            "return seq_logit.view(-1, seq_logit.size(2))",
            "return torch.softmax(seq_logit, -1).view(-1, seq_logit.size(2))",
        ),
    ),
    Bug(
        _SOFTMAX,
        "lightning-hydra-template",
        "TL101",
        (
            "src/models/components/simple_dense_net.py",
            "nn.Linear(lin3_size, output_size),",
            "nn.Linear(lin3_size, output_size),\n            nn.Softmax(dim=1),",
        ),
    ),
    Bug(
        _SOFTMAX,
        "Hugging Face BERT",
        "TL101",
        (
            "bert.py",
            "return self.head(self.dropout(pooled))",
            "return self.head(self.dropout(pooled)).softmax(-1)",
        ),
    ),
    Bug(
        _SOFTMAX,
        "language_translation",
        "TL101",
        ("src/model.py", "return self.ff(outs)", "return F.softmax(self.ff(outs), dim=-1)"),
    ),
    Bug(_LOGITS, "vae", "TL105", ("main.py", "return torch.sigmoid(self.fc4(h3))", "return self.fc4(h3)")),
    Bug(_LOGITS, "siamese_network", "TL105", ("main.py", "        output = self.sigmoid(output)\n", "")),
    Bug(_LOGITS, "gan", "TL105", ("gan.py", "            nn.Sigmoid(),\n", "")),
    Bug(
        _LOGITS,
        "dcgan",
        "TL105",
        ("main.py", "1, 4, 1, 0, bias=False),\n            nn.Sigmoid()", "1, 4, 1, 0, bias=False)"),
    ),
    Bug(
        _SIGMOID,
        "vae",
        "TL104",
        ("main.py", "F.binary_cross_entropy(recon_x", "F.binary_cross_entropy_with_logits(recon_x"),
    ),
    Bug(
        _SIGMOID,
        "siamese_network",
        "TL104",
        ("main.py", _TRAIN_SIAMESE, _TRAIN_SIAMESE.replace("BCELoss", "BCEWithLogitsLoss")),
    ),
    Bug(_SIGMOID, "gan", "TL104", ("gan.py", "torch.nn.BCELoss()", "torch.nn.BCEWithLogitsLoss()")),
    Bug(_SIGMOID, "dcgan", "TL104", ("main.py", "nn.BCELoss()", "nn.BCEWithLogitsLoss()")),
    Bug(
        _SWAPPED,
        "mnist",
        "TL110",
        ("main.py", "loss = F.nll_loss(output, target)", "loss = F.nll_loss(target, output)"),
    ),
    Bug(
        _SWAPPED,
        "cnn-text-classification",
        "TL110",
        ("train.py", "loss = F.cross_entropy(logit, target)\n", "loss = F.cross_entropy(target, logit)\n"),
    ),
    Bug(
        _SWAPPED,
        "tutorial CNN",
        "TL110",
        ("main.py", "loss = criterion(outputs, labels)", "loss = criterion(labels, outputs)"),
    ),
    Bug(
        _SWAPPED,
        "vae",
        "TL110",
        ("main.py", "(recon_x, x.view(-1, 784), reduction", "(x.view(-1, 784), recon_x, reduction"),
    ),
    Bug(
        _SWAPPED,
        "siamese_network",
        "TL110",
        ("main.py", "loss = criterion(outputs, targets)", "loss = criterion(targets, outputs)"),
    ),
    Bug(
        _BROADCAST,
        "siamese_network",
        "TL108",
        (
            "main.py",
            "optimizer.zero_grad()\n        outputs = model(images_1, images_2).squeeze()",
            "optimizer.zero_grad()\n        outputs = model(images_1, images_2)",
        ),
    ),
    Bug(
        _BROADCAST,
        "cleanrl dqn",
        "TL108",
        ("cleanrl/dqn.py", ".gather(1, data.actions).squeeze()", ".gather(1, data.actions)"),
    ),
    Bug(
        _BROADCAST,
        "cleanrl ddpg",
        "TL108",
        (
            "cleanrl/ddpg_continuous_action.py",
            "qf1(data.observations, data.actions).view(-1)",
            "qf1(data.observations, data.actions)",
        ),
    ),
    Bug(
        _BROADCAST,
        "regression",
        "TL108",
        (
            "main.py",
            "F.smooth_l1_loss(fc(batch_x), batch_y)",
            "F.smooth_l1_loss(fc(batch_x), batch_y.squeeze(1))",
        ),
    ),
    Bug(
        _BROADCAST,
        "super_resolution",
        "TL108",
        ("main.py", "loss = criterion(model(input), target)", "loss = criterion(model(input), target[:, 0])"),
    ),
    Bug(
        _BROADCAST,
        "time_sequence_prediction",
        "TL108",
        ("train.py", "loss = criterion(out, target)", "loss = criterion(out.unsqueeze(1), target)"),
    ),
    Bug(
        _CLASSES,
        "minGPT",
        "TL114",
        ("mingpt/model.py", _CE, "F.cross_entropy(logits, targets, ignore_index=-1)"),
    ),
    Bug(_CLASSES, "nanoGPT", "TL114", ("model.py", _CE, "F.cross_entropy(logits, targets, ignore_index=-1)")),
    Bug(
        _CLASSES,
        "language_translation",
        "TL114",
        (
            "main.py",
            "loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))\n        loss.backward()",
            "loss_fn(logits, tgt_out)\n        loss.backward()",
        ),
    ),
)
