"""How a recorded program is ended."""


class Stop(BaseException):
    """Everything that was asked for is recorded. Not an `Exception`, so that programs which catch those still end."""
