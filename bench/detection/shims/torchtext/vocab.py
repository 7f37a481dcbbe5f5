class _Vocabulary:
    def __init__(self, words):
        self._words = {word: number for number, word in enumerate(words)}

    def __len__(self):
        return len(self._words)

    def __call__(self, tokens):
        return [self._words.get(token, self._default) for token in tokens]

    def set_default_index(self, number):
        self._default = number


def build_vocab_from_iterator(sentences, min_freq=1, specials=(), special_first=True):
    found = dict.fromkeys(specials)
    for sentence in sentences:
        found.update(dict.fromkeys(sentence))
    return _Vocabulary(found)
