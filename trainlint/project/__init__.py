"""What a project is: its files, ignore patterns, configuration, target versions of torch, and source texts."""
