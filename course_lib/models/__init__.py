"""Models and data sets of the lectures, by their data."""
