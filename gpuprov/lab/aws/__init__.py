"""AWS on one machine: its API's memory, its networks, its metadata service, and instances that are real systems.

Owns: the simulated account of a lab, the routers of VPCs, security groups, instances as nodes, the resource plugin.
Takes: the lab's `CloudDescription`, calls of AWS's API, resources of the Pulumi engine.
Gives: answers as AWS gives them, and hosts that a login reaches; see `gpuprov.lab.aws.nodes` and `.network`.
Must not: be imported by the product's lower rooms, or make anything on the machine without the lab's id.
"""
