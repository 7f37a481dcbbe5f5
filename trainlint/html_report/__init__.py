"""A recorded step as one HTML file: for people to look at, offline."""
