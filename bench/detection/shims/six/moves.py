import urllib

__all__ = ["urllib"]
