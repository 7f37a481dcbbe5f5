"""The language server: what `check` says, while a file is written."""
