"""gpuprov: one spec for GPU servers in a rack and in the cloud, one locked software stack, proven."""
