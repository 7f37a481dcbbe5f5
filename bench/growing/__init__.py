"""Programs that grow: each pattern writes a training script of any size, and what checking it costs is counted."""
