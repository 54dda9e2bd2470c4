"""Bring hosts to their want by Ansible.

Owns: role variables, the generated inventory, the run of the play, events and failures as values.
Takes: hosts with their HostWant and Removal, the playbooks' folder, the run's documents.
Gives: one HostOutcome per host; failures as diagnostics.
Must not: choose a version, a path or a package name; decide about a reboot.
"""
