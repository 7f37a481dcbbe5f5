"""Files in groups, the processes that check them, and what stays true after a change."""
