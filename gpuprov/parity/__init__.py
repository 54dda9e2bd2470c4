"""The verdict over findings: what differs, what is waived, what could not be compared.

Owns: classes, waivers, groups of equal hosts, ids of findings, what an operand means.
Takes: Findings by host, hosts that could not be observed, Waivers, today's date.
Gives: a Parity with its exit status, and the body of a Report.
Must not: compare values, observe a host, or print.
"""
