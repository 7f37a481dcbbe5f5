"""The data that rules are handed: values, events, the tree around them, one training."""
