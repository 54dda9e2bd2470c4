"""What is known of the world: GPUs, driver branches, toolkits, packages, units, operating systems, repositories.

Owns: the rows under data/, each with its source and date, a user's own rows over them, and the lookups over both.
Takes: its own package data, and the texts of a user's files.
Gives: typed rows; a field that no source backs is None and named in `unverified`.
Must not: decide (rules/ does), read anything outside its data, know the spec.
"""
