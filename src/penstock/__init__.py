"""penstock: keeps machine-learning datasets and feeds them to training."""
