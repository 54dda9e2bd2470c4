"""What `up` would do on a host: findings become ordered changes.

Owns: the change that ends each finding, its reason, the order, the guard against a host that moved, removals.
Takes: Findings of compare, a HostWant, a Snapshot.
Gives: HostPlan and Plan, and a Plan as the body of a document.
Must not: touch a host, or invent a change that no finding asks for.
"""
