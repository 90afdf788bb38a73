"""Studies: orders of convergence, and what a run of a given accuracy will take."""
