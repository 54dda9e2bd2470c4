"""Where hosts come from.

Owns: reading Ansible inventories (with Ansible's own parser, as a program) and names that ssh knows.
Takes: an inventory's path, or a host's name.
Gives: hosts with their connections; GP-INV errors that name host, variable and what to write instead.
Must not: reach a host, or guess at a connection variable that it cannot honour.
"""
