"""Hosts in the cloud: what to make, and how the Pulumi engine and AWS are asked for it.

Owns: the stack document (every decision, pure), the engine's runs, its state, AWS's answers, images; vendor errors.
Takes: spec, lock, pool wants' digests, credentials where the user keeps them.
Gives: resource plans, made resources, hosts with verified keys, AMIs; GP-CLOUD errors with cause and way out.
Must not: decide inside the Pulumi program, keep a private login key, or replace what holds data unasked.
"""
