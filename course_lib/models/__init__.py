"""What lectures train or load, by its data."""
