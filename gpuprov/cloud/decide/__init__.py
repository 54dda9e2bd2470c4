"""What to make in the cloud, decided before anything is asked of it; nothing here opens a file, a socket or a clock.

Owns: the stack document and every decision in it: names, tags, addresses, zones, rules, policies, user data, images.
Takes: spec, lock, what the region offers, public login keys, what already stands in the stack's state.
Gives: plain JSON for `stacks/aws`, the digest of a pool's baked part, the keys by which recovery finds a resource.
Must not: import Pulumi or an AWS library, or decide anew what a standing resource cannot change without a replacement.
"""
