"""Files: checkpoints, meshes, models, files for ParaView, pictures and movies."""
