"""gpuprov: one spec for GPU servers in a rack and in the cloud, one locked software stack, proven."""

__version__ = "0.1.0"
"""As in pyproject.toml: looking it up in the installed metadata takes as long as everything else of `--version`."""
