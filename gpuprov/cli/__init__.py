"""The command line: flags -> request -> app -> render -> exit status.

Owns: command names, flags, the question before a change, the exit status.
Takes: argv and the environment.
Gives: calls of app, shown by render.
Must not: decide what a host should be, or know how anything is done.
"""
