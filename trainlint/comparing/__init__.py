"""Two recordings side by side: what changed between a good run and a bad one."""
