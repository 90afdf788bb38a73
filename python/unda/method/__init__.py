"""How it is solved: simulations on meshes and grids, their options and checks, receivers, the tuner."""
