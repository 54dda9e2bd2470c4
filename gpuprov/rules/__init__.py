"""Compatibility: plain values and catalog rows to answers, each with both facts, their sources, and what would satisfy.

Owns: what goes together of GPU, driver, CUDA, OS, container toolkit, DCGM, frameworks, instance type and a host seen.
Takes: PoolFacts, InstanceFacts and HostFacts (plain values), the catalog, and today's date from the caller.
Gives: answers: refused, warned of, unknown where the catalog does not know; nothing for what is sound.
Must not: import spec or lock, read a clock, treat unknown as allowed.
"""
