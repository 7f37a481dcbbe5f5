"""Where people train for hours: some steps of a long run are recorded and judged, in plain loops and in frameworks."""
