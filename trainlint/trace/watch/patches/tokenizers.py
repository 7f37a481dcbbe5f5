"""Where the libraries `tokenizers` and `transformers` turn texts into tokens, if the program imports them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from trainlint.trace.launch.arrivals import Arrivals
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap, after

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    libraries: dict[str, Callable[[Any], None]] = {
        "tokenizers": functools.partial(_tokenizers_is_here, recorder, undo),
        "transformers.tokenization_utils_base": functools.partial(_transformers_is_here, recorder, undo),
    }
    undo.callback(Arrivals(libraries).remove)


def _tokenizers_is_here(recorder: Recorder, undo: ExitStack, library: Any) -> None:
    tokenizer = getattr(library, "Tokenizer", None)
    replace(undo, tokenizer, "encode", after(recorder, _encoded))
    replace(undo, tokenizer, "encode_batch", after(recorder, _encoded_batch))


def _transformers_is_here(recorder: Recorder, undo: ExitStack, library: Any) -> None:
    tokenizer = getattr(library, "PreTrainedTokenizerBase", None)
    for name in ("__call__", "encode", "encode_plus", "batch_encode_plus"):
        replace(undo, tokenizer, name, _tokenizing(recorder))


def _encoded(recorder: Recorder, result: Any, tokenizer: Any, /, *args: Any, **kwargs: Any) -> None:
    given = args[0] if args else next(iter(kwargs.values()))
    pair = args[1] if len(args) > 1 else kwargs.get("pair")
    are_words = args[2] if len(args) > 2 else kwargs.get("is_pretokenized")
    texts = [given if pair is None else None]
    recorder.texts.encoded(tokenizer, texts, [result], bool(are_words), recorder.frame())


def _encoded_batch(recorder: Recorder, result: Any, tokenizer: Any, /, *args: Any, **kwargs: Any) -> None:
    given = args[0] if args else next(iter(kwargs.values()))
    are_words = args[1] if len(args) > 1 else kwargs.get("is_pretokenized")
    recorder.texts.encoded(tokenizer, given, result, bool(are_words), recorder.frame())


def _tokenizing(recorder: Recorder) -> Wrap:
    """The tokenizers of `transformers` that are written in Python; the others end in the library `tokenizers`."""

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def tokenize(tokenizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.listens:
                return original(tokenizer, *args, **kwargs)
            with recorder.texts.inside(tokenizer, bool(kwargs.get("return_overflowing_tokens"))) as is_first:
                result = original(tokenizer, *args, **kwargs)
            if is_first and recorder.listens and not tokenizer.is_fast:
                with recorder.careful:
                    given = args[0] if args else kwargs.get("text", kwargs.get("batch_text_or_text_pairs"))
                    if not kwargs.get("is_split_into_words"):
                        recorder.texts.encoded_slowly(tokenizer, given, result, recorder.frame())
            return result

        return tokenize

    return wrap
