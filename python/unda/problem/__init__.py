"""What is to be solved: meshes, grids, media, boundaries, sources, time functions, incident waves."""
