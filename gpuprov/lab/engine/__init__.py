"""The Pulumi engine from its Go module, for machines that cannot reach Pulumi's own downloads.

Owns: the pinned module (`go.mod`, `go.sum`) and its build.
Takes: a Go compiler, and the module proxy that the machine's own `go env` names.
Gives: the engine in gpuprov's cache, where `cloud/engine.py` finds it.
Must not: name a proxy, or replace an engine that is found already.
"""
