"""Experiments on copies of the models, after the recorded step: each is one question."""
