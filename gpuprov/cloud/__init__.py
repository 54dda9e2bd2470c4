"""Hosts in the cloud: what to make, and how the Pulumi engine and AWS are asked for it.

Owns: the stack document (every decision, pure), the engine's runs, its state, AWS's answers, images; vendor errors.
Takes: spec, lock, pool wants' digests, credentials where the user keeps them.
Gives: resource plans, made resources, hosts with verified keys, AMIs; GP-CLOUD errors with cause and way out.
Must not: decide inside the Pulumi program, keep a private login key, or replace what holds data unasked.
"""

import os

# Pulumi's SDK brings gRPC, whose fork handlers start its threads anew in the child: Ansible's child then died now and
# then of "Epoll1Poller ... Bad file descriptor" before its exec (grpc issue 43055; reproduced 2026-11-30, grpcio 1.85).
# No forked child of gpuprov speaks gRPC. The variable is read while grpc is loaded, so it stands before all else.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"
