"""What penstock does, end to end."""
