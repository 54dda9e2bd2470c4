"""The spec: what people write, decoded and checked.

Owns: the fields of gpuprov.yaml, their texts, types, defaults and checks; the spec drafted from a Snapshot.
Takes: text with positions from document/.
Gives: a Spec, or all its errors at once.
Must not: look anything up outside the text (rules and lock do), open a file.
"""
