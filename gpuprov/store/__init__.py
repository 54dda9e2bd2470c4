"""Documents on disk: the only room that writes files of the site.

Owns: atomic writes, reading with clear errors, the site's lock, the run journal, where the cache is.
Takes: texts and paths.
Gives: texts, run folders, a held lock.
Must not: know what a document means, or leave half a file behind.
"""
