"""As much of Pillow as the programs use: every file opens as a synthetic picture."""
