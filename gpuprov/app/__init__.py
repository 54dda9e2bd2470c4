"""The use cases, one a file: the only room that chains the others.

Owns: the order of the steps of each command.
Takes: requests made of flags, and a place for progress.
Gives: values of model and of the documents; never text for people.
Must not: print, know a flag or a colour, or decide what another room decides.
"""
