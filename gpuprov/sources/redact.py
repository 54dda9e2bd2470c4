"""URLs without what must not be shown."""

from urllib.parse import urlsplit, urlunsplit


def without_credentials(url: str) -> str:
    """The URL without user, password, query and fragment: what may stand in messages, logs and the lock."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
