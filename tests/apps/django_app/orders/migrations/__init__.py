"""What made the tables."""
