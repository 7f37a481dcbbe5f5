"""Nothing is drawn."""


def use(_):
    pass
