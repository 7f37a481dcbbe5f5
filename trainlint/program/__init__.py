"""Source code to facts: the only part of trainlint that knows Python's syntax."""
