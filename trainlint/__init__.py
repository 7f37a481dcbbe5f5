"""trainlint: find what silently breaks PyTorch training."""

__version__ = "0.1.0"
