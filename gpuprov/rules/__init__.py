"""Compatibility: plain values and catalog rows to diagnostics, each with its reason and source.

Owns: which driver, CUDA, GPU, module flavour, DCGM and Fabric Manager go together.
Takes: PoolFacts (plain values), the catalog, and today's date from the caller.
Gives: errors, warnings, and GP-RULE-900 where the catalog does not know.
Must not: import spec or lock, read a clock, treat unknown as allowed.
"""
