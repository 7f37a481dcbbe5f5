"""The tests of a rule: its page, its runnable pair and its fix, for trainlint's own rules and for those of others."""
