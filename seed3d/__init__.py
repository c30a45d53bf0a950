"""Seed3D: one photo of an object to a simulation-ready 3D asset."""

__version__ = "0.1.0"
