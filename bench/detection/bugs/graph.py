"""What cuts, keeps or corrupts the graph of gradients."""

from bugs.bug import Bug

_LOSS = "loss detached"
_OUTPUT = "output of the model detached"
_OTHER = "wrong side of a GAN or actor-critic detached"
_REBUILT = "tensor rebuilt from its data"
_BANDAID = "requires_grad set on a cut loss"
_NO_GRAD = "forward under no_grad"
_INPLACE = "saved tensor changed in place"
_RETAINED = "graph of every loss kept in a sum"

_MNIST_LOSS = "loss = F.nll_loss(output, target)\n"
_FORWARD = "optimizer.zero_grad()\n        output = model(data)"

BUGS = (
    Bug(_LOSS, "mnist", "TL202", ("main.py", _MNIST_LOSS, "loss = F.nll_loss(output, target).detach()\n")),
    Bug(
        _LOSS,
        "minGPT",
        "TL202",
        ("mingpt/trainer.py", "self.loss.backward()", "self.loss.detach().backward()"),
    ),
    Bug(
        _LOSS,
        "Hugging Face GPT-2",
        "TL202",
        ("gpt2.py", "labels=tokens).loss", "labels=tokens).loss.detach()"),
    ),
    Bug(
        _LOSS,
        "lightning-hydra-template",
        "TL202",
        (
            "src/models/mnist_module.py",
            "# return loss or backpropagation will fail\n        return loss",
            "return loss.detach()",
        ),
    ),
    Bug(
        _LOSS,
        "reinforce",
        "TL202",
        ("reinforce.py", "append(m.log_prob(action))", "append(m.log_prob(action).detach())"),
    ),
    Bug(
        _OUTPUT,
        "mnist_rnn",
        "TL202",
        ("main.py", _MNIST_LOSS, "loss = F.nll_loss(output.detach(), target)\n"),
    ),
    Bug(
        _OUTPUT,
        "gcn",
        "TL202",
        ("main.py", "criterion(output[mask_train], target", "criterion(output[mask_train].detach(), target"),
    ),
    Bug(
        _OUTPUT,
        "Hugging Face BERT",
        "TL202",
        ("bert.py", "F.cross_entropy(logits, labels)", "F.cross_entropy(logits.detach(), labels)"),
    ),
    Bug(
        _OUTPUT,
        "super_resolution",
        "TL202",
        ("main.py", "loss = criterion(model(input), target)", "loss = criterion(model(input).data, target)"),
    ),
    Bug(
        _OTHER,
        "gan",
        "TL202 TL210",
        (
            "gan.py",
            "adversarial_loss(discriminator(gen_imgs), valid)",
            "adversarial_loss(discriminator(gen_imgs.detach()), valid)",
        ),
    ),
    Bug(
        _OTHER, "dcgan", "TL202 TL210", ("main.py", "output = netD(fake)\n", "output = netD(fake.detach())\n")
    ),
    Bug(
        _OTHER,
        "wgan_gp",
        "TL202 TL210",
        (
            "wgan_gp.py",
            "# Train on fake images\n",
            "# Train on fake images\n            fake_imgs = fake_imgs.data\n",
        ),
    ),
    Bug(
        _OTHER,
        "cleanrl ddpg",
        "TL202 TL210",
        (
            "cleanrl/ddpg_continuous_action.py",
            "actor(data.observations)).mean()",
            "actor(data.observations).detach()).mean()",
        ),
    ),
    Bug(
        _OTHER,
        "cleanrl ppo",
        "TL202 TL210",
        ("cleanrl/ppo.py", "newvalue = newvalue.view(-1)", "newvalue = newvalue.detach().view(-1)"),
    ),
    Bug(
        _OTHER,
        "actor_critic",
        "TL201 TL202 TL210",
        (
            "actor_critic.py",
            "F.smooth_l1_loss(value, torch",
            "F.smooth_l1_loss(torch.tensor([value.item()]), torch",
        ),
    ),
    Bug(
        _REBUILT,
        "mnist",
        "TL201 TL210",
        ("main.py", "x = torch.flatten(x, 1)", "x = torch.Tensor(torch.flatten(x, 1).data)"),
    ),
    Bug(
        _REBUILT,
        "cnn-text-classification",
        "TL201 TL210",
        ("model.py", "x = torch.cat(x, 1)", "x = torch.tensor(torch.cat(x, 1))"),
    ),
    Bug(
        _REBUILT,
        "minGPT",
        "TL201 TL202 TL210",
        ("mingpt/model.py", "x = self.transformer.ln_f(x)", "x = self.transformer.ln_f(x.data)"),
    ),
    Bug(
        _REBUILT,
        "nanoGPT",
        "TL201 TL210",
        ("model.py", "x = self.transformer.ln_f(x)", "x = torch.tensor(self.transformer.ln_f(x))"),
    ),
    Bug(
        _REBUILT,
        "attention-is-all-you-need",
        "TL201 TL202 TL210",
        (
            "transformer/Models.py",
            "self.decoder(trg_seq, trg_mask, enc_output, src_mask)",
            "self.decoder(trg_seq, trg_mask, torch.FloatTensor(enc_output.data), src_mask)",
        ),
    ),
    Bug(
        _REBUILT,
        "time_sequence_prediction",
        "TL201 TL202",
        (
            "train.py",
            "outputs = torch.cat(outputs, dim=1)",
            "outputs = torch.from_numpy(torch.cat(outputs, dim=1).detach().numpy())",
        ),
    ),
    Bug(
        _BANDAID,
        "mnist",
        "TL202 TL203 TL210",
        (
            "main.py",
            _MNIST_LOSS,
            "loss = F.nll_loss(output.data, target)\n        loss.requires_grad = True\n",
        ),
    ),
    Bug(
        _BANDAID,
        "cnn-text-classification",
        "TL202 TL203 TL210",
        (
            "train.py",
            "loss = F.cross_entropy(logit, target)\n",
            "loss = torch.tensor(F.cross_entropy(logit, target).item(), requires_grad=True)\n",
        ),
    ),
    Bug(
        _BANDAID,
        "siamese_network",
        "TL202 TL203 TL210",
        (
            "main.py",
            "loss = criterion(outputs, targets)\n",
            "loss = torch.tensor(criterion(outputs, targets), requires_grad=True)\n",
        ),
    ),
    Bug(
        _BANDAID,
        "Hugging Face GPT-2",
        "TL202 TL203 TL210",
        ("gpt2.py", "labels=tokens).loss", "labels=tokens).loss.detach().requires_grad_()"),
    ),
    Bug(
        _BANDAID,
        "lightning-hydra-template",
        "TL202 TL203 TL210",
        (
            "src/models/mnist_module.py",
            "# return loss or backpropagation will fail\n        return loss",
            "return loss.detach().requires_grad_(True)",
        ),
    ),
    Bug(
        _NO_GRAD,
        "mnist",
        "TL204",
        (
            "main.py",
            _FORWARD,
            "optimizer.zero_grad()\n        with torch.no_grad():\n            output = model(data)",
        ),
    ),
    Bug(
        _NO_GRAD,
        "vae",
        "TL204",
        (
            "main.py",
            "optimizer.zero_grad()\n        recon_batch, mu, logvar = model(data)",
            "optimizer.zero_grad()\n        with torch.no_grad():\n            recon_batch, mu, logvar = model(data)",
        ),
    ),
    Bug(
        _NO_GRAD,
        "Hugging Face BERT",
        "TL204 TL210",
        (
            "bert.py",
            "pooled = self.bert(input_ids=tokens, attention_mask=mask).pooler_output",
            "with torch.no_grad():\n            pooled = self.bert(input_ids=tokens, attention_mask=mask).pooler_output",
        ),
    ),
    Bug(
        _NO_GRAD,
        "cleanrl dqn",
        "TL204",
        (
            "cleanrl/dqn.py",
            "                old_val = q_network(data.observations)",
            "                    old_val = q_network(data.observations)",
        ),
    ),
    Bug(
        _NO_GRAD,
        "tutorial feedforward",
        "TL204",
        (
            "main.py",
            "# Forward pass\n        outputs = model(images)",
            "with torch.inference_mode():\n            outputs = model(images)",
        ),
    ),
    Bug(
        _INPLACE,
        "mnist",
        "TL207",
        (
            "main.py",
            "x = self.fc1(x)\n        x = F.relu(x)",
            "x = torch.sigmoid(self.fc1(x))\n        x *= 2",
        ),
    ),
    Bug(
        _INPLACE,
        "vae",
        "TL207",
        ("main.py", "std = torch.exp(0.5*logvar)\n", "std = torch.exp(0.5*logvar)\n        std.add_(1e-3)\n"),
    ),
    Bug(
        _INPLACE,
        "attention-is-all-you-need",
        "TL207",
        (
            "transformer/Modules.py",
            "attn = self.dropout(F.softmax(attn, dim=-1))",
            "attn = F.softmax(attn, dim=-1)\n        attn.mul_(0.9)",
        ),
    ),
    Bug(
        _INPLACE,
        "minGPT",
        "TL207",
        (
            "mingpt/model.py",
            "att = F.softmax(att, dim=-1)\n",
            "att = F.softmax(att, dim=-1)\n        att[:, :, 0] = 0\n",
        ),
    ),
    Bug(
        _INPLACE,
        "tutorial feedforward",
        "TL207",
        ("main.py", "out = self.relu(out)", "out = torch.tanh(out)\n        out += 1"),
    ),
    Bug(_RETAINED, "vae", "TL205", ("main.py", "train_loss += loss.item()", "train_loss += loss")),
    Bug(
        _RETAINED,
        "attention-is-all-you-need",
        "TL205",
        ("train.py", "\n        total_loss += loss.item()", "\n        total_loss += loss"),
    ),
    Bug(
        _RETAINED, "super_resolution", "TL205", ("main.py", "epoch_loss += loss.item()", "epoch_loss += loss")
    ),
    Bug(_RETAINED, "Hugging Face GPT-2", "TL205", ("gpt2.py", "total += loss.item()", "total += loss")),
    Bug(
        _RETAINED,
        "language_translation",
        "TL205",
        (
            "main.py",
            "losses += loss.item()\n\n        if opts.dry_run",
            "losses += loss\n\n        if opts.dry_run",
        ),
    ),
)
