"""The options of ansible_ssh_common_args and its like: those that a connection can honour, and the others by name."""

import shlex
from dataclasses import dataclass

HARMLESS = frozenset(
    {
        "addkeystoagent",
        "batchmode",
        "compression",
        "connectionattempts",
        "controlmaster",
        "controlpath",
        "controlpersist",
        "forwardagent",
        "hashknownhosts",
        "kbdinteractiveauthentication",
        "loglevel",
        "passwordauthentication",
        "pubkeyauthentication",
        "serveralivecountmax",
        "serveraliveinterval",
        "tcpkeepalive",
        "updatehostkeys",
    }
)
"""Options that do not change which host is reached, as whom, or how its key is checked."""
_FLAGS = frozenset("CqvAaTn")
_LETTERS = {"J": "proxyjump", "i": "identityfile", "F": "configfile", "p": "port", "l": "user"}
_KNOWN = frozenset(
    {*_LETTERS.values(), "userknownhostsfile", "stricthostkeychecking", "connecttimeout", "identitiesonly"}
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An option that cannot be honoured."""

    option: str
    instead: str
    """What to write instead."""


def read_ssh_options(text: str) -> dict[str, str] | Refusal:
    """Read ssh's command-line options.

    Args:
        text: such as `-o ProxyJump=bastion -i ~/.ssh/site`.

    Returns:
        Option in lower case -> value (the first one counts, as in ssh; `configfile` is -F), or why not.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        return Refusal(text, f"quotes that fit ({error})")
    options: dict[str, str] = {}
    while words:
        word = words.pop(0)
        if word.startswith("-") and len(word) > 1 and set(word[1:]) <= _FLAGS:
            continue
        letter, value = word[1:2], word[2:]
        if not word.startswith("-") or letter not in {"o", *_LETTERS}:
            return Refusal(
                word, "an option of the list in the reference, or put it into an ssh configuration file (-F)"
            )
        if not value:
            if not words:
                return Refusal(word, "the option with its value")
            value = words.pop(0)
        if letter == "o":
            key, _, value = value.replace(" ", "=", 1).partition("=") if "=" not in value else value.partition("=")
            written, value = key.strip(), value.strip()
            key, shown = written.lower(), f"{written}={value}"
        else:
            key, shown = _LETTERS[letter], f"-{letter} {value}"
        refusal = _judge(key, value, shown)
        if refusal is not None:
            return refusal
        options.setdefault(key, value)
    return {key: value for key, value in options.items() if key not in HARMLESS}


def _judge(key: str, value: str, shown: str) -> Refusal | None:
    if key not in _KNOWN and key not in HARMLESS and key != "proxycommand":
        return Refusal(shown, "the option in an ssh configuration file, named with -F")
    instead = _instead(key, value)
    return Refusal(shown, instead) if instead else None


def _instead(key: str, value: str) -> str:
    """What to write instead of an option's value; empty when it can be honoured."""
    if key == "stricthostkeychecking" and value.lower() not in {"yes", "ask"}:
        return "nothing: host keys are always checked; put the host's key into known_hosts (ssh-keyscan)"
    if key == "userknownhostsfile" and "/dev/null" in value.split():
        return "the path of a known_hosts file; host keys are always checked"
    if key == "proxycommand":
        return "-o ProxyJump=[user@]host[:port], or the ProxyCommand in an ssh configuration file (-F)"
    if key == "identitiesonly" and value.lower() not in {"yes", "no"}:
        return "IdentitiesOnly=yes or no"
    if key in {"port", "connecttimeout"} and not value.isdigit():
        return "a number"
    return ""
