"""What torch, Python and frameworks do when a program calls them."""
