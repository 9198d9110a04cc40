"""Right and wrong attempts at the exercises, one module a lecture."""
