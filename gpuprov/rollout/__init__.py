"""Bring hosts from what they are to what they should be, in batches, and prove it.

Owns: the order of batches, the second look before a host is touched, reboots, the proof.
Takes: hosts with their wants and plans.
Gives: one HostResult per host; progress; journal entries before and after each step.
Must not: decide what a host should be, or choose a version.
"""
