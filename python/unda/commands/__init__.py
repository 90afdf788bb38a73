"""The commands of ``unda``; see ``__main__.py``."""
