"""A check from request to report: analyse, silence, select, withhold. Knows no rule by name."""
