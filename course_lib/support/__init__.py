"""What every room of the library stands on."""
