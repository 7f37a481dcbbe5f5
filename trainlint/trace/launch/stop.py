"""How a recorded program is ended."""

ENDS = "the program to end"
"""What is waited for once enough is recorded."""


class Stop(BaseException):
    """Everything that was asked for is recorded. Not an `Exception`, so that programs which catch those still end."""
