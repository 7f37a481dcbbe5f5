"""One file per format, one function each: a report, or a part of one, to text."""
