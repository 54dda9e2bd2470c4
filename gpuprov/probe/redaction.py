"""Replacing secrets on the host, by sed, before anything travels."""

from typing import Final

STAND_IN: Final = "***"
"""What replaces a secret."""

_WORDS: Final = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api[_-]?key",
    "access[_-]?key",
    "private[_-]?key",
    "credential",
)


def _any_case(word: str) -> str:
    # POSIX sed has no flag for this; letters inside brackets stand already for themselves.
    text, inside = "", False
    for letter in word:
        inside = letter == "[" or (inside and letter != "]")
        text += f"[{letter.upper()}{letter}]" if letter.isalpha() and not inside else letter
    return text


def redaction_script(frame: str = "") -> str:
    """The script for `sed -E`.

    It replaces users and passwords in URLs, the values of keys that are called password, secret, token and the like (in
    `KEY=value`, YAML and JSON), authorization headers, registry logins and private keys. JSON stays JSON.

    Args:
        frame: what begins the lines that end any text; a private key that was cut does not reach beyond such a line.
    """
    begin, end = (rf"-----{word} [A-Z0-9 ]*PRIVATE KEY-----" for word in ("BEGIN", "END"))
    inside = f"/{begin}/,/{end}|^{frame} /{{/^{frame} /!s/.*/***/;}}" if frame else f"/{begin}/,/{end}/s/.*/***/"
    key = f"({'|'.join(_any_case(word) for word in _WORDS)})[A-Za-z0-9_.-]*[\"']?[[:space:]]*"
    authorization = _any_case("authorization")
    rules = (
        # A tag of sudo's rules, and no password: what follows is a command that everybody should see.
        "s/NOPASSWD:/NOPA55WD:/g",
        f"s/{begin}.*{end}/***/g",
        inside,
        r"s#([A-Za-z][A-Za-z0-9+.-]*://)[^/[:space:]\"']*@#\1***@#g".replace(r"\"", '"'),
        rf"""s/({key}[:=][[:space:]]*)"(\\.|[^"\\])*"/\1"***"/g""",
        rf"""s/({key}[:=][[:space:]]*)'[^']*'/\1'***'/g""",
        rf"""s/({key}=[[:space:]]*)[^"'[:space:]&,;][^[:space:]&,;"']*/\1***/g""",
        rf"""s/({key}:[[:space:]]*)[^]["'[:space:]{{}},][^]}},[:space:]]*/\1"***"/g""",
        rf"""s/({authorization}["']?[[:space:]]*[:=][[:space:]]*["']?)([A-Za-z]+[[:space:]]+)?[^"',[:space:]]+/\1***/g""",
        r's/("auth"[[:space:]]*:[[:space:]]*)"[^"]*"/\1"***"/g',
        "s/NOPA55WD:/NOPASSWD:/g",
    )
    return "\n".join(rules)
