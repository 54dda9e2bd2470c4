"""Hold what should be against what is, facet by facet.

Owns: the comparators that the facet table names, the kinds of disagreement, what a waiver covers.
Takes: Expectations and a Snapshot, or two Snapshots; Waivers and a date.
Gives: Findings; what could not be observed stays a finding of its own.
Must not: decide what to do about a finding, or what exit status it gives.
"""
