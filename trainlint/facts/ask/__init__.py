"""Questions about values, all asked through one mechanism."""
