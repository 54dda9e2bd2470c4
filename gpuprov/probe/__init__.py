"""Look at hosts, read-only.

Owns: the collectors (a shell command and a pure parser each), the one script that runs them on a host, recordings.
Takes: hosts, and which files, services and exporters to look at.
Gives: a Snapshot and a Recording of each host, or NotObserved with the reason.
Must not: change anything on a host, turn "could not look" into "is not there", or fill in a default.
"""
