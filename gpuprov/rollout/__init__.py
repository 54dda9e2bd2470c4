"""Bring hosts from what they are to what they should be, in batches, and prove it.

Owns: the order of batches, their hours, work that goes off a host and comes back, the second look, reboots, the proof.
Takes: hosts with their wants and plans, and the steps of their pools.
Gives: one HostResult per host; progress; journal entries before and after each step.
Must not: decide what a host should be, or choose a version.
"""
