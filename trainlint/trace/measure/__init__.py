"""Numbers of a run: measurements of tensors, surveys of models, experiments on copies."""
