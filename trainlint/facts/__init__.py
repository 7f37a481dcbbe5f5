"""The vocabulary that rules are written in: values, objects, events and steps of training."""
