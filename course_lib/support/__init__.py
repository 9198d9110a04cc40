"""Contracts, checks, training and figures."""
