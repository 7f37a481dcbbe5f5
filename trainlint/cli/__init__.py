"""The command line: a file for each command, and the options, exit codes and help that they share."""
