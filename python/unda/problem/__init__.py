"""The problem to solve: meshes, grids, media, boundaries, sources, time functions, incident waves."""
