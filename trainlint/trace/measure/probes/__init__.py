"""Probes: what a careful person tries before a long run, each a question that copies of model and optimizer answer."""
