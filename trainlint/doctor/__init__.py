"""What `trainlint doctor` looks at: what is installed, what is configured, and what keeps rules silent."""
