"""The panels of the report: one file for each, from the facts of a recording to HTML."""
