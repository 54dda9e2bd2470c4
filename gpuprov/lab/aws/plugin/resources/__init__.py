"""One handler per resource type: its calls of EC2, IAM and S3, and the outputs that the real provider shows.

Owns: how each type is made, read, changed and removed.
Takes: a `Call` and plain, checked inputs.
Gives: outputs under the SDK's wire names, always read from the endpoint.
Must not: keep anything, or decide what a change means (that is `compare`'s).
"""
