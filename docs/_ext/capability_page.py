"""The page of what can be combined. Not here: the tables (capability_table.py)."""


def setup(app):
    """Do nothing yet."""
    return {"parallel_read_safe": True}
