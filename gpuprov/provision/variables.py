"""Ansible's connection variables of one host, as a Connection; what cannot be honoured is refused by name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.host import Become, Connection
from gpuprov.provision.jumps import read_jumps
from gpuprov.provision.ssh_options import Refusal, read_ssh_options

_NAMES: Final = {
    "host": ("ansible_host", "ansible_ssh_host"),
    "port": ("ansible_port", "ansible_ssh_port"),
    "user": ("ansible_user", "ansible_ssh_user"),
    "key": ("ansible_ssh_private_key_file", "ansible_private_key_file"),
    "password": ("ansible_password", "ansible_ssh_password", "ansible_ssh_pass"),
    "become_password": ("ansible_become_password", "ansible_become_pass", "ansible_sudo_pass"),
    "timeout": ("ansible_timeout", "ansible_ssh_timeout"),
    "python": ("ansible_python_interpreter",),
}
"""What each is called, the newest name first; Ansible prefers it too."""
_ARGS: Final = ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args")
_FIXED: Final[dict[str, tuple[frozenset[str], str]]] = {
    "ansible_connection": (
        frozenset(
            {"ssh", "smart", "paramiko", "paramiko_ssh", "local"}
            | {f"ansible.builtin.{name}" for name in ("ssh", "smart", "paramiko", "paramiko_ssh", "local")}
        ),
        "ssh or local",
    ),
    "ansible_become_method": (frozenset({"sudo", "ansible.builtin.sudo"}), "sudo"),
    "ansible_become_user": (frozenset({"root"}), "root: packages and services need it"),
    "ansible_become_exe": (frozenset({"sudo"}), "sudo"),
    "ansible_become_flags": (frozenset({"", "-H -S -n"}), "nothing: gpuprov gives sudo's options itself"),
    "ansible_shell_type": (frozenset({"sh"}), "sh: a POSIX shell"),
    "ansible_host_key_checking": (frozenset({"true", "yes", "1"}), "nothing: host keys are always checked"),
    "ansible_ssh_host_key_checking": (frozenset({"true", "yes", "1"}), "nothing: host keys are always checked"),
    "ansible_paramiko_host_key_checking": (frozenset({"true", "yes", "1"}), "nothing: host keys are always checked"),
    "ansible_ssh_executable": (frozenset({"ssh"}), "nothing: the ssh client of this machine's PATH is used"),
}
"""Variables of which only some values can be honoured, and what to write instead."""
_WITHOUT_EFFECT: Final = frozenset(
    {
        "ansible_pipelining",
        "ansible_ssh_pipelining",
        "ansible_ssh_retries",
        "ansible_ssh_transfer_method",
        "ansible_sftp_extra_args",
        "ansible_scp_extra_args",
        "ansible_ssh_control_path",
        "ansible_ssh_control_path_dir",
        "ansible_control_path",
        "ansible_control_path_dir",
        "ansible_ssh_use_tty",
        "ansible_remote_tmp",
        "ansible_become",
    }
)
_PREFIXES: Final = (
    "ansible_ssh_",
    "ansible_become_",
    "ansible_paramiko_",
    "ansible_winrm_",
    "ansible_sudo_",
    "ansible_su_",
)
SECRETS: Final = frozenset((*_NAMES["password"], *_NAMES["become_password"]))
TEXTS: Final = frozenset(name for kind in ("host", "user", "key") for name in _NAMES[kind]) | SECRETS
"""Variables whose value is a text and never a number or a truth value."""
_READ: Final = frozenset(name for names in _NAMES.values() for name in names) | set(_ARGS) | set(_FIXED)
CONNECTION_VARIABLES: Final = _READ | _WITHOUT_EFFECT
"""All names that this module reads or knows to have no effect on a connection."""
_TRUE: Final = frozenset({"true", "yes", "on", "1", "y", "t"})
_FALSE: Final = frozenset({"false", "no", "off", "0", "n", "f"})


def is_connection_variable(name: str) -> bool:
    """Whether a variable says how a host is reached."""
    return name in CONNECTION_VARIABLES or name.startswith(_PREFIXES)


def read_connection(host: str, variables: Mapping[str, object], diagnostics: list[Diagnostic]) -> Connection:
    """Make a host's connection.

    Args:
        host: its name in the inventory.
        variables: as Ansible gives them, vaulted ones decrypted.
        diagnostics: GP-INV-003 for each variable that cannot be honoured is added here.
    """
    refuse = _Refuser(host, diagnostics)
    texts = {
        name: _text(value) for name, value in variables.items() if is_connection_variable(name) and value is not None
    }
    for name, value in texts.items():
        _check(name, value, refuse)
    options = _options(texts, refuse)
    become = texts.get("ansible_become", "true").lower()
    if become not in _TRUE | _FALSE:
        refuse("ansible_become", become, "true or false")
    config = _place(options.get("configfile"))
    return Connection(
        host=host,
        address=_pick(texts, "host") or host,
        kind="local" if texts.get("ansible_connection", "").rpartition(".")[2] == "local" else "ssh",
        port=_number(texts, "port", refuse) or int(options.get("port", "22")),
        user=_pick(texts, "user") or options.get("user"),
        key_file=_place(_pick(texts, "key") or options.get("identityfile")),
        password=_pick(texts, "password"),
        known_hosts=tuple(p for text in options.get("userknownhostsfile", "").split() if (p := _place(text))),
        jump=read_jumps(options.get("proxyjump", "none"), host, config, refuse),
        ssh_config=config,
        identities_only=options.get("identitiesonly", "no").lower() == "yes",
        connect_timeout=float(_number(texts, "timeout", refuse) or options.get("connecttimeout", "10")),
        become=Become(enabled=become in _TRUE, password=_pick(texts, "become_password")),
        python=_pick(texts, "python"),
    )


class _Refuser:
    """Adds GP-INV-003 for a variable of one host."""

    def __init__(self, host: str, diagnostics: list[Diagnostic]) -> None:
        self._host = host
        self._diagnostics = diagnostics

    def __call__(self, name: str, value: str, instead: str) -> None:
        shown = "(a secret)" if name in SECRETS else repr(value)
        self._diagnostics.append(
            Diagnostic(
                code="GP-INV-003",
                address=self._host,
                summary=f"gpuprov cannot honour {name}={shown}",
                hint=f"write instead: {instead}",
            )
        )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pick(texts: Mapping[str, str], kind: str) -> str | None:
    return next((texts[name] for name in _NAMES[kind] if texts.get(name)), None)


def _place(text: str | None) -> str | None:
    """A path as it is from here: Ansible takes relative ones from the current folder, and converge runs in another."""
    if not text or text.startswith("%"):
        return text or None  # ssh's own tokens, such as %d/.ssh/known_hosts
    return str(Path(text).expanduser().absolute())


def _number(texts: Mapping[str, str], kind: str, refuse: _Refuser) -> int | None:
    for name in _NAMES[kind]:
        if name in texts:
            if texts[name].isdecimal() and 0 < int(texts[name]) < 65536:  # noqa: PLR2004 - TCP ports; no timeout is longer
                return int(texts[name])
            refuse(name, texts[name], "a number from 1 to 65535")
    return None


def _check(name: str, value: str, refuse: _Refuser) -> None:
    if ("{{" in value or "{%" in value) and name not in SECRETS:
        refuse(name, value, "the value itself: templates in connection variables are not evaluated")
    elif name in _FIXED:
        allowed, instead = _FIXED[name]
        if value.lower() not in allowed:
            refuse(name, value, instead)
    elif name not in CONNECTION_VARIABLES:
        refuse(name, value, "nothing, or the same in an ssh configuration file (ansible_ssh_common_args='-F FILE')")


def _options(texts: Mapping[str, str], refuse: _Refuser) -> dict[str, str]:
    options: dict[str, str] = {}
    for name in _ARGS:
        if name not in texts or "{{" in texts[name]:
            continue
        read = read_ssh_options(texts[name])
        if isinstance(read, Refusal):
            refuse(name, read.option, read.instead)
            continue
        for key, value in read.items():
            options.setdefault(key, value)
    return options
