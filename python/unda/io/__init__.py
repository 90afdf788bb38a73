"""Files: checkpoints, models, files for ParaView, pictures and movies."""
