"""Run commands and put files on a host.

Owns: connections (ssh by paramiko, local), host key checks, sudo, time limits.
Takes: a Connection.
Gives: a Transport; failures as GpuprovError with GP-SSH codes.
Must not: know what a command means.
"""
