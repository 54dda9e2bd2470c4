"""What is known of the world: GPUs, driver branches, toolkits, packages, units, operating systems, repositories.

Owns: the rows under data/, each with its source and date, and the lookups over them.
Takes: nothing but its own package data.
Gives: typed rows; a field that no source backs is None and named in `unverified`.
Must not: decide (rules/ does), read anything outside its data, know the spec.
"""
