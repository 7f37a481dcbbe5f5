"""What happens in a training program, as the rules see it: one module for each kind of event."""
