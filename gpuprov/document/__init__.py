"""Text and values: YAML with positions, canonical JSON, the envelope, digests.

Owns: how documents are written down and read back, and what a broken text is told.
Takes: text (or bytes) and the name of the file it came from.
Gives: Node trees, plain values, sealed text; every refusal with file, line and column.
Must not: open a file, know what a field of the spec means, import a room above model.
"""
