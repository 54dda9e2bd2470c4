"""From constraints to exact packages: the resolver, the lock, and whether a lock is still true.

Owns: the choice of versions, the Lock and its verdict.
Takes: a Spec, catalog rows and an Index (a protocol that sources/ fulfils).
Gives: a Lock, or the reasons why there is none.
Must not: open a file, a socket or a clock; know how an index is fetched.
"""
