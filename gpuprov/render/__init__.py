"""Values -> text for people and for programs.

Owns: colours, tables, the look of diagnostics and progress, JSON output.
Takes: values of model and of the documents, as app returns them.
Gives: text on stdout (results) and stderr (everything else).
Must not: decide anything, look anything up, or know a flag.
"""
