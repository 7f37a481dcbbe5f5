"""How a recorded program is ended."""

ENDS = "the program to end"
"""What is waited for once enough is recorded."""

STOPPED, DONE = ".stopped", ".done"
"""How the names of files end that say of a process: it is being ended because enough is recorded, and all is written."""


class Stop(BaseException):
    """Everything that was asked for is recorded. Not an `Exception`, so that programs which catch those still end."""
