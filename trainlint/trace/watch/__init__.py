"""What a recorder sees: patches of torch, and the parts that write down what happens."""
