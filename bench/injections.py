"""Bugs that can be put into a training program, one at a time: each certainly harms training, or an evaluation, where it
applies."""

from __future__ import annotations

from collections.abc import Iterable

import injected_data as data
import injected_loops as loops
import injected_losses as losses
import injected_models as models
import injected_modes as modes
from injected_edits import Operator

_CUT = ("TL201", "TL202", "TL203", "TL208")
OPERATORS = {
    "zero_grad dropped": Operator(loops.zero_grad_dropped, ("TL301",), "zero_grad"),
    "zero_grad before step": Operator(loops.zero_grad_before_step, ("TL302",), "zero_grad"),
    "zero_grad each micro-batch": Operator(loops.zero_grad_each_micro_batch, ("TL302",), "zero_grad"),
    "accumulation not averaged": Operator(loops.accumulation_not_averaged, ("TL314",), "accum"),
    "step dropped": Operator(loops.step_dropped, ("TL305", "TL304"), "zero_grad"),
    "backward dropped": Operator(loops.backward_dropped, ("TL306", "TL302", "TL303"), "zero_grad"),
    "step before backward": Operator(loops.step_before_backward, ("TL303", "TL302"), "zero_grad"),
    "clip after step": Operator(loops.clip_after_step, ("TL313",), "clip_grad"),
    "scheduler before optimizer": Operator(loops.scheduler_before_optimizer, ("TL304",), "lr_scheduler"),
    "optimizer in the loop": Operator(loops.optimizer_in_the_loop, ("TL307",), "Adam|RMSprop"),
    "optimizer of another model": Operator(loops.optimizer_of_another_model, ("TL309",), "optim"),
    "loss detached": Operator(
        losses.before_backward("{0} = {0}.detach().requires_grad_()"), _CUT, "zero_grad"
    ),
    "loss rebuilt": Operator(
        losses.before_backward("{0} = torch.tensor({0}.item(), requires_grad=True)"), _CUT, "zero_grad"
    ),
    "item() dropped": Operator(loops.item_dropped, ("TL205",), "item"),
    "outputs detached": Operator(
        losses.around_trained(
            ("CrossEntropyLoss", "MSELoss", "BCELoss", "BCEWithLogitsLoss"), "({0}).detach()"
        ),
        _CUT,
        "backward",
    ),
    "outputs rounded": Operator(
        losses.around_trained(("MSELoss", "L1Loss", "BCELoss"), "({0}).round()"), ("TL107",), "backward"
    ),
    "softmax at the loss": Operator(
        losses.around(("CrossEntropyLoss",), "({0}).softmax(dim=1)"),
        ("TL101",),
        "CrossEntropyLoss|cross_entropy",
    ),
    "sigmoid at the loss": Operator(
        losses.around(("BCEWithLogitsLoss",), "torch.sigmoid({0})"),
        ("TL104",),
        "BCEWithLogitsLoss|binary_cross_entropy_with_logits",
    ),
    "log_softmax dropped": Operator(losses.log_softmax_dropped, ("TL103",), "log_softmax"),
    "NLLLoss on logits": Operator(losses.TO_NLL, ("TL103",), "CrossEntropyLoss"),
    "BCELoss on logits": Operator(losses.TO_BCE, ("TL105",), "BCEWithLogitsLoss"),
    "loss arguments swapped": Operator(
        losses.arguments_swapped(("CrossEntropyLoss", "NLLLoss")),
        ("TL110",),
        "CrossEntropyLoss|cross_entropy|NLLLoss|nll_loss",
    ),
    "kl_div arguments swapped": Operator(losses.divergence_arguments_swapped, ("TL106",), "kl_div|KLDiv"),
    "no_grad dropped": Operator(loops.no_grad_dropped, ("TL312",), "no_grad"),
    "train() dropped": Operator(loops.mode_dropped("train"), ("TL310",), "eval", modes.matters),
    "eval() dropped": Operator(loops.mode_dropped("eval"), ("TL311",), "eval", modes.matters),
    "shuffle off": Operator(data.shuffle_off, ("TL502",), "shuffle", data.is_used),
    "set_epoch dropped": Operator(data.set_epoch_dropped, ("TL504",), "set_epoch"),
    "batch not moved": Operator(data.batch_not_moved, ("TL215", "TL801"), "loader"),
    "weights not copied": Operator(loops.weights_not_copied, ("TL919",), "deepcopy"),
    "plain list of layers": Operator(models.plain_list, ("TL901",), "ModuleList"),
    "shared layers": Operator(models.shared_layers, ("TL910",), "ModuleList"),
    "super().__init__() dropped": Operator(models.super_init_dropped, ("TL902",), "super"),
    "dropout discarded": Operator(models.dropout_discarded, ("TL215", "TL908"), "drop"),
    "dropout always on": Operator(models.dropout_always_on, ("TL904",), "dropout"),
    "batch_first dropped": Operator(models.batch_first_dropped, ("TL609",), "batch_first"),
    "softmax over the batch": Operator(models.softmax_over_the_batch, ("TL109",), "[sS]oftmax"),
    "attention without scale": Operator(models.scale_dropped, ("TL611",), "sqrt"),
    "mask diagonal": Operator(models.mask_diagonal, ("TL603",), "tri[ul]"),
    "mask filled with 0": Operator(models.mask_filled_with_zero, ("TL601",), "masked_fill"),
    "scaler.update dropped": Operator(loops.scaler_call_dropped("update"), ("TL405",), "scaler"),
    "unscale_ dropped": Operator(loops.scaler_call_dropped("unscale_"), ("TL404",), "unscale_"),
    "step without scaler": Operator(loops.step_without_scaler, ("TL405",), "scaler"),
    "loss not scaled": Operator(loops.loss_not_scaled, ("TL402", "TL405"), "scaler"),
}


def harmful(texts: Iterable[bytes]) -> frozenset[str]:
    """Names of the operators that do harm in a repository with these files."""
    everything = b"\n".join(texts)
    says_log, says_nll = losses.SAYS_LOG_SOFTMAX.search(everything), losses.SAYS_NLL.search(everything)
    harmless = set()
    if says_log:
        harmless |= {"NLLLoss on logits"}
    if not says_nll or losses.SAYS_CROSS_ENTROPY.search(everything):
        harmless |= {"log_softmax dropped"}
    return frozenset(OPERATORS) - harmless
