"""What is read and written: checkpoints, models, files for ParaView, pictures and films."""
