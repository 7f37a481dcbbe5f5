"""As much of torchtext as the programs use, with made-up sentences in place of downloads."""
