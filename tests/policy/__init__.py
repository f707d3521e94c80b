"""What the operator allows."""
