"""What the package module needs of Ansible where it only looks: its parameters, programs, and one line of JSON.

Owns: nothing on the host; it takes the place of ansible.module_utils.basic in the archive that a look sends.
Takes: parameters.json beside it in the archive.
Gives: the module's result as the last line of its output.
Must not: be given to a module that is to change anything: check mode is all it knows.
"""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys


class AnsibleModule:
    """The part of Ansible's class that the package module uses, always in check mode.

    Args:
        argument_spec: the module's own; it gives the defaults.
        supports_check_mode: must be true.
    """

    check_mode = True

    def __init__(self, argument_spec: dict, supports_check_mode: bool) -> None:  # noqa: FBT001 - Ansible's own form
        if not supports_check_mode:
            raise TypeError("a module without a check mode must not be run for a look")
        given = json.loads(pkgutil.get_data("look", "parameters.json") or b"")
        self.params = _filled(given, argument_spec)

    def run_command(self, argv, data=None, environ_update=None, errors="replace"):  # noqa: ANN001, ANN201 - Ansible's own form
        """Run a program to its end; returns status, stdout and stderr."""
        environment = {**os.environ, **(environ_update or {})}
        given = {"stdin": subprocess.DEVNULL} if data is None else {"input": data.encode()}
        try:
            done = subprocess.run(argv, env=environment, capture_output=True, check=False, **given)
        except OSError as error:
            self.fail_json(msg=f"{argv[0]} cannot be run: {error}", rc=error.errno)
        return done.returncode, done.stdout.decode(errors=errors), done.stderr.decode(errors=errors)

    def exit_json(self, **result: object) -> None:
        """End well, with a result."""
        sys.stdout.write(f"\n{json.dumps(result)}\n")
        sys.exit(0)

    def fail_json(self, msg: str, **result: object) -> None:
        """End badly, with the reason."""
        sys.stdout.write(f"\n{json.dumps({'failed': True, 'msg': msg, **result})}\n")
        sys.exit(1)


def _filled(given: dict, spec: dict) -> dict:
    """Parameters with the defaults of those that were not given, in rows of lists too."""
    found = {}
    for name, option in spec.items():
        value = given.get(name, option.get("default"))
        if option.get("options") and isinstance(value, list):
            value = [_filled(row, option["options"]) for row in value]
        found[name] = value
    return found
