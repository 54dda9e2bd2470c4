"""A data centre on one machine: real systems in namespaces, with simulated GPUs and a simulated vendor repository.

Owns: the lab's nodes, network, base systems, inventory and their removal.
Takes: a `LabDescription` (drawn from a printed seed) and a folder for the files that a person needs.
Gives: `LabState`, `LabStatus`, and a way into each node; see `gpuprov.lab.lab`.
Must not: be imported by the product's lower rooms, or touch what does not carry the lab's id.
"""
