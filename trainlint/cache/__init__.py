"""The cache as bytes in a folder. Knows no types of other rooms."""
