"""Models of transformers that attend to padding unless an attention mask tells them not to. Data.

Measured with transformers 5.23: each gives other outputs for the tokens of a padded text without a mask. Models that find
out by themselves what is padding, such as XLM and Flaubert, are not among them.
"""

from __future__ import annotations

import re

_NAMES = "Bert|Roberta|XLMRoberta|Camembert|Albert|Electra|Deberta|DebertaV2|MPNet|ModernBert|DistilBert|T5|MT5|Bart"
_CLASS = re.compile(
    rf"transformers\.(?:\w+\.)*(?:{_NAMES})(?:Model|For(?!CausalLM|NextSentence)[A-Z]\w+|EncoderModel)"
    r"(?:\.(?:from_pretrained|from_config|_from_config))?"
)
_AUTO = re.compile(
    r"transformers\.(?:\w+\.)*AutoModel(?:ForSequenceClassification|ForTokenClassification|ForQuestionAnswering"
    r"|ForMaskedLM|ForSeq2SeqLM)?\.from_pretrained"
)
_WEIGHTS = re.compile(
    r"(?:[\w-]+/)?(?:distil)?(?:bert|roberta|albert|electra|deberta|mpnet|modernbert|camembert|xlm-roberta|mt5|t5|bart)"
    r"-[\w.-]+",
    re.IGNORECASE,
)


def attends_to_padding(name: str, weights: object = None) -> bool:
    """Whether a model, by the dotted name of what makes it and by the name of its weights, needs a mask for padding."""
    if _CLASS.fullmatch(name) is not None:
        return True
    return (
        _AUTO.fullmatch(name) is not None
        and isinstance(weights, str)
        and _WEIGHTS.fullmatch(weights) is not None
    )
