"""Solving a problem: simulations on meshes and grids, their options and checks, receivers, the tuner."""
