"""The server for coding agents: checks, pages, fixes and runs as tools, over the Model Context Protocol."""
