"""Fetching files of a source over http, https and file: bounded in time and size, cached, no credential printed."""

import base64
import hashlib
import http.client
import json
import netrc
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report, ignore_progress
from gpuprov.sources.files import write_bytes
from gpuprov.sources.redact import without_credentials

_CHUNK: Final = 1 << 18
_RELEASE_LIMIT: Final = 32 << 20
"""Bytes; Debian's own Release has 150 KiB."""
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_GONE: Final = frozenset({404, 410})
_DENIED: Final = frozenset({401, 403, 407})


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetcher:
    """Reads files of sources; keeps what it read in a cache folder."""

    cache: Path
    report: Report = ignore_progress
    timeout: float = 30.0
    """Seconds without a byte after which a transfer is given up."""
    tries: int = 3
    netrc_file: Path | None = None
    """None means $NETRC or ~/.netrc, where it exists."""
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Proxy for each scheme; empty means those of the environment (http_proxy, https_proxy, no_proxy)."""
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def release(self, url: str, source: str) -> bytes | None:
        """The present content of a small file, asked for conditionally; None when the server has no such file.

        Raises:
            GpuprovError: GP-SRC-001 when the server cannot be reached or refuses.
        """
        kept = self.cache / "release" / hashlib.sha256(without_credentials(url).encode()).hexdigest()
        known = _read_kept(kept)
        headers = known[0] if known else {}
        answer = self._get(url, source, headers, limit=_RELEASE_LIMIT)
        if isinstance(answer, _NotModified):
            if known is None:
                raise GpuprovError(_trouble(source, url, "the server said 'not modified' to a first request"))
            return known[1]
        if answer is None:
            return None
        if answer.validators:
            head = {"headers": answer.validators, "sha256": hashlib.sha256(answer.data).hexdigest()}
            write_bytes(kept, json.dumps(head).encode() + b"\n" + answer.data)
        return answer.data

    def by_digest(self, urls: tuple[str, ...], source: str, *, sha256: str, size: int) -> Path:
        """A file of known size and digest, from the cache or the first of the URLs that has it.

        Raises:
            GpuprovError: GP-SRC-001 (cannot be had), GP-SRC-004 (another size or digest than signed).
        """
        kept = self.cache / "files" / sha256
        if kept.is_file() and kept.stat().st_size == size and _digest(kept) == sha256:
            os.utime(kept)
            return kept
        for url in urls:
            answer = self._get(url, source, {}, limit=size)
            if answer is None or isinstance(answer, _NotModified):
                continue
            found = hashlib.sha256(answer.data).hexdigest()
            if len(answer.data) != size or found != sha256:
                raise GpuprovError(_mismatch(source, url, f"{len(answer.data)} bytes, sha256 {found}", size, sha256))
            write_bytes(kept, answer.data)
            return kept
        raise GpuprovError(_trouble(source, urls[-1], "the server has no such file, though the signed index names it"))

    def _get(self, url: str, source: str, headers: dict[str, str], *, limit: int) -> "_Answer | _NotModified | None":
        trouble = ""
        for attempt in range(self.tries):
            if attempt:
                self.report(Progress(phase="fetch", subject=source, text=f"again, after {trouble}"))
                self.sleep(0.5 * 2**attempt)
            try:
                return self._once(url, source, headers, limit)
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 304:  # noqa: PLR2004 - not modified
                    return _NotModified()
                if error.code in _GONE:
                    return None
                trouble = f"HTTP status {error.code}"
                if error.code in _DENIED:
                    raise GpuprovError(_denied(source, url, error.code)) from None
                if error.code not in _AGAIN:
                    break
            except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
                reason = getattr(error, "reason", error)
                if isinstance(reason, FileNotFoundError):
                    return None
                trouble = f"{type(reason).__name__}: {reason}" if not str(reason) else str(reason)
        # `from None`: urllib's own messages may repeat the URL with its password.
        raise GpuprovError(_trouble(source, url, trouble)) from None

    def _once(self, url: str, source: str, headers: dict[str, str], limit: int) -> "_Answer":
        request = self._request(url, source, headers)
        handlers = [urllib.request.ProxyHandler(dict(self.proxies))] if self.proxies else []
        with urllib.request.build_opener(*handlers).open(request, timeout=self.timeout) as answer:
            data = bytearray()
            while chunk := answer.read(_CHUNK):
                data += chunk
                if len(data) > limit:
                    raise GpuprovError(_mismatch(source, url, f"more than {limit} bytes", limit, ""))
                if len(data) > _CHUNK:
                    name = urlsplit(url).path.rpartition("/")[2]
                    step = Progress(phase="fetch", subject=source, text=name, done=len(data), total=limit)
                    self.report(step)
            expected = answer.headers.get("Content-Length")
            if expected is not None and expected.isdecimal() and int(expected) != len(data):
                raise http.client.IncompleteRead(b"", int(expected) - len(data))
            kept = {"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"}
            validators = {ask: answer.headers[name] for ask, name in kept.items() if answer.headers[name]}
            return _Answer(bytes(data), validators if request.type != "file" else {})

    def _request(self, url: str, source: str, headers: dict[str, str]) -> urllib.request.Request:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https", "file"}:
            raise GpuprovError(_trouble(source, url, f"'{parts.scheme}' is not http, https or file"))
        host = parts.netloc.rpartition("@")[2]
        request = urllib.request.Request(  # noqa: S310 - checked above
            urlunsplit((parts.scheme, host, parts.path, parts.query, "")), headers={"User-Agent": "gpuprov", **headers}
        )
        login = (
            (unquote(parts.username), unquote(parts.password or "")) if parts.username else self._login(host, source)
        )
        if login is not None and parts.scheme != "file":
            token = base64.b64encode(f"{login[0]}:{login[1]}".encode()).decode()
            # Unredirected: a redirect to another host must not take the password along.
            request.add_unredirected_header("Authorization", f"Basic {token}")
        return request

    def _login(self, host: str, source: str) -> tuple[str, str] | None:
        """The login for a source: a variable of its own before the netrc."""
        name = login_variable(source)
        given = os.environ.get(name, "")
        if given:
            user, separator, password = given.partition(":")
            if not separator:
                raise GpuprovError(_trouble(source, host, f"{name} is not USER:PASSWORD"))
            return user, password
        path = self.netrc_file or Path(os.environ.get("NETRC", "~/.netrc")).expanduser()
        if not host or not path.is_file():
            return None
        try:
            entries = netrc.netrc(str(path))
        except (netrc.NetrcParseError, OSError) as error:
            place = f"line {error.lineno}" if isinstance(error, netrc.NetrcParseError) else "it cannot be opened"
            raise GpuprovError(_trouble(source, host, f"{path} cannot be read ({place})")) from None
        found = entries.authenticators(host) or entries.authenticators(host.partition(":")[0])
        return (found[0], found[2] or "") if found else None


def login_variable(source: str) -> str:
    """The environment variable that may hold a source's login, as USER:PASSWORD; one for all parts of the archive."""
    return "GPUPROV_LOGIN_" + re.sub(r"[^A-Z0-9]", "_", source.partition("/")[0].upper())


@dataclass(frozen=True, slots=True)
class _Answer:
    data: bytes
    validators: dict[str, str]


@dataclass(frozen=True, slots=True)
class _NotModified:
    pass


def _read_kept(path: Path) -> tuple[dict[str, str], bytes] | None:
    try:
        text, _, data = path.read_bytes().partition(b"\n")
        head = json.loads(text)
        whole = head["sha256"] == hashlib.sha256(data).hexdigest()
        return (dict(head["headers"]), data) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # never fetched, or damaged: fetched anew, and writing it tells of a broken cache


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _trouble(source: str, url: str, what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-001",
        address=f"sources.{source}",
        summary=f"source {source} cannot be read: {what}",
        detail=without_credentials(url),
        hint="Check the URL, the network and the proxy settings of this machine (http_proxy, https_proxy, no_proxy).",
    )


def _denied(source: str, url: str, status: int) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-001",
        address=f"sources.{source}",
        summary=f"source {source} refuses to answer: HTTP status {status}",
        detail=without_credentials(url),
        hint="If it needs a login, give it in ~/.netrc (`machine HOST login USER password PASSWORD`), "
        f"or as USER:PASSWORD in the variable {login_variable(source)}.",
    )


def _mismatch(source: str, url: str, found: str, size: int, sha256: str) -> Diagnostic:
    expected = f"{size} bytes, sha256 {sha256}" if sha256 else f"at most {size} bytes"
    return Diagnostic(
        code="GP-SRC-004",
        address=f"sources.{source}",
        summary=f"an index file of source {source} is not the one that the signed index names",
        detail=f"{without_credentials(url)}\nfound: {found}\nexpected: {expected}",
        hint="A mirror in the middle of an update does this: try again in some minutes. Otherwise it was changed.",
    )
