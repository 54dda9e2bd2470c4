"""Where sshd looks for the keys of users."""

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import NOT_INSTALLED, Collector, Found, ended, failure, fixed, is_missing

# -T wants the daemon's host keys and its folder below /run, which is not there while a socket waits for the first
# login; -G (OpenSSH 9.3) wants neither.
_COMMAND = f"""
[ -x /usr/sbin/sshd ] || {{ echo 'gpuprov: sshd is not installed' >&2; exit {NOT_INSTALLED}; }}
t=$(/usr/sbin/sshd -T 2>&1) || g=$(/usr/sbin/sshd -G 2>&1) && t=${{g:-$t}} || {{ printf '%s\\n' "$t" >&2; exit 1; }}
printf '%s\\n' "$t" | grep -i '^authorizedkeysfile '
echo end
"""


def parse_sshd(output: CollectorOutput, recording: Recording) -> Found:
    """host.ssh.keys: the patterns of sshd_config(5)'s AuthorizedKeysFile that are in force; Absent without sshd."""
    if is_missing(output):
        return {"host.ssh.keys": Absent()}
    if not ended(output):
        return {"host.ssh.keys": failure(output, recording, "asking sshd for its settings")}
    words = output.stdout.split("\n")[0].split()[1:]
    seen: Observation = Known([*words] if words != ["none"] else []) if words else Unknown("sshd names no file of keys")
    return {"host.ssh.keys": seen}


COLLECTORS = (Collector(name="sshd", command=fixed(_COMMAND), gives=("host.ssh.keys",), parse=parse_sshd),)
