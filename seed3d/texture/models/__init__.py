"""Learned texture stages: PBR decomposition, completion of unseen surface, multi-view diffusion."""
