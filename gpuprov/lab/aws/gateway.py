"""What stands before moto: faults, dry runs, repeated calls, reserved tags, and the lab's own door.

moto is wrong in these (read and tried with 5.2.5, 2026-11-30): it ignores ClientToken, so a repeated call makes a
second instance; it honours DryRun in a few calls only; it takes tags that begin with `aws:`.
"""

import hashlib
import io
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Response

from gpuprov.lab.aws import capacity as reserved
from gpuprov.lab.aws import faults
from gpuprov.lab.aws.capacity import CapacityBook
from gpuprov.lab.aws.errors import corrected_status, error_body
from gpuprov.lab.aws.faults import FaultBook
from gpuprov.lab.aws.policy.guard import POLICY_PATH, Denied, Guard
from gpuprov.lab.aws.request import ApiRequest, read_request, set_current

_TAG_KEY = re.compile(r"Tag(Specification\.\d+\.Tag)?\.\d+\.Key")
_CODE = re.compile(rb"<Code>([^<]*)</Code>")
_FIRST_ERROR = 400
_DENIED = {"ec2": "UnauthorizedOperation"}
_THROTTLED = {
    "ec2": ("RequestLimitExceeded", 503),
    "s3": ("SlowDown", 503),
    "elasticfilesystem": ("ThrottlingException", 400),
}
_EXPIRED = {"ec2": ("RequestExpired", 400), "s3": ("ExpiredToken", 400)}
_INVALID_KEY = {"ec2": ("AuthFailure", 401), "s3": ("InvalidAccessKeyId", 403)}
"""Errors of each service (the services' lists of error codes, 2026-11); the others answer as STS does."""

_Answer = tuple[int, list[tuple[str, str]], bytes]


@dataclass(slots=True)
class _Repeated:
    """The calls that carry a token, so that a repeated one gets the first one's answer."""

    answers: dict[str, tuple[str, _Answer]] = field(default_factory=dict)
    locks: dict[str, threading.Lock] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def held(self, token: str) -> threading.Lock:
        """The lock of one token: a repetition waits for the first call's end."""
        with self.lock:
            return self.locks.setdefault(token, threading.Lock())


class Gateway:
    """The WSGI application of the lab's AWS.

    Args:
        moto: moto's application.
        book: the faults.
        account: the account's number, for messages.
        publish_image: publishes a newer base image and returns its id.
        capacity: what the account has reserved, and answers about it.
        guard: the policies in force.
        lock: the account's; moto itself has none, and calls come at the same time.
        say: writes a line to the server's log: one for each call, with its action, status and error.
    """

    def __init__(
        self,
        moto: Any,
        book: FaultBook,
        *,
        account: str,
        publish_image: Callable[[], str],
        capacity: CapacityBook,
        guard: Guard,
        lock: threading.RLock,
        say: Callable[[str], None],
    ) -> None:
        self._moto = moto
        self._book = book
        self._account = account
        self._publish_image = publish_image
        self._capacity = capacity
        self._guard = guard
        self._lock = lock
        self._say = say
        self._repeated = _Repeated()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        path = environ.get("PATH_INFO", "/")
        if path.startswith("/gpuprov-lab/"):
            return self._own_door(path, environ)(environ, start_response)
        if path == "/moto-api/reset":
            return Response("the lab's AWS holds running nodes: take the lab down instead\n", 403)(
                environ, start_response
            )
        call = read_request(environ)
        set_current(call)
        status, headers, body = self._refused(call) or self._own_answer(call, environ) or self._answer(call, environ)
        code = _CODE.search(body) if status >= _FIRST_ERROR else None
        self._say(f"{call.service}:{call.action} {status} {code[1].decode() if code else ''}".rstrip())
        self._after(call, environ)
        return Response(body, status, headers)(environ, start_response)

    def _refused(self, call: ApiRequest) -> _Answer | None:
        """Return the refusal of a call that never reaches moto."""
        return self._not_allowed(call) or (_not_valid(call) if call.service == "ec2" else None)

    def _not_allowed(self, call: ApiRequest) -> _Answer | None:
        """Return the refusal of a call for who makes it, where that was asked for."""
        name = f"{call.service}:{call.action}"
        if self._book.struck("invalid-key", call):
            code, status = _INVALID_KEY.get(call.service, ("InvalidClientTokenId", 403))
            return _error(call, code, "The security token included in the request is invalid.", status)
        if self._book.struck("expired", call):
            code, status = _EXPIRED.get(call.service, ("ExpiredToken", 403))
            return _error(call, code, "The security token included in the request is expired", status)
        if self._book.struck("denied", call):
            because = f"because no identity-based policy allows the {name} action"
            return self._denied(call, Denied(action=name, resource="*", reason=because))
        if self._book.struck("throttled", call):
            code, status = _THROTTLED.get(call.service, ("Throttling", 400))
            return _error(call, code, "Request limit exceeded.", status)
        denied = self._guard.refusal(call)
        return self._denied(call, denied) if denied is not None else None

    def _denied(self, call: ApiRequest, denied: Denied) -> _Answer:
        """Return the refusal of an action."""
        user = f"arn:aws:iam::{self._account}:user/lab"
        text = (
            f"User: {user} is not authorized to perform: {denied.action} on resource: {denied.resource} {denied.reason}"
        )
        if call.service == "ec2":
            text = f"You are not authorized to perform this operation. {text}"
        return _error(call, _DENIED.get(call.service, "AccessDenied"), text, 403)

    def _answer(self, call: ApiRequest, environ: dict[str, Any]) -> _Answer:
        """Return moto's answer, or the first one's of a call that is repeated with the same token."""
        token = call.parameters.get("ClientToken")
        if not token or call.service != "ec2":
            return self._moto_answer(environ)
        key = f"{call.action}/{token}"
        content = hashlib.sha256(json.dumps(sorted(call.parameters.items())).encode()).hexdigest()
        with self._repeated.held(key):
            known = self._repeated.answers.get(key)
            if known is not None and known[0] != content:
                text = "The request uses the same client token as a previous, but non-identical request."
                return _error(call, "IdempotentParameterMismatch", text, 400)
            if known is not None:
                return known[1]
            answer = self._moto_answer(environ)
            if answer[0] == 200:  # noqa: PLR2004 (HTTP: done; a refused call may be tried again)
                self._repeated.answers[key] = (content, answer)
            return answer

    def _own_answer(self, call: ApiRequest, environ: dict[str, Any]) -> _Answer | None:
        """Return the answer to a call that moto cannot answer; None for all others."""
        if call.service not in {"ec2", "servicequotas", "resource-groups"}:
            return None
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        quota = self._book.service_quota()
        return self._capacity.answer(call, environ.get("PATH_INFO", "/"), body, quota=quota)

    def _moto_answer(self, environ: dict[str, Any]) -> _Answer:
        """Have moto answer, whole."""
        with self._lock:
            try:
                parts, status, headers = run_wsgi_app(self._moto, environ, buffered=True)
            except NotImplementedError as error:  # the server answers 500, and the log says for what
                self._say(f"moto: {error}")
                raise
            body = b"".join(parts)
        return corrected_status(int(status.split()[0]), body), list(headers), body

    def _after(self, call: ApiRequest, environ: dict[str, Any]) -> None:
        """Delay the answer, or cut the connection, where that was asked for."""
        late = self._book.struck("slow", call)
        if late is not None:
            with self._book.waiting(call):
                time.sleep(late.seconds)
        if self._book.struck("cut", call) is not None:
            link: socket.socket = environ["werkzeug.socket"]
            link.shutdown(socket.SHUT_RDWR)
            raise ConnectionResetError("the fault `cut` was asked for")

    def _own_door(self, path: str, environ: dict[str, Any]) -> Response:
        """Answer at the lab's own door."""
        method = environ["REQUEST_METHOD"]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        doors: dict[tuple[str, str], Callable[[], Any]] = {
            ("POST", faults.IMAGES_PATH): lambda: {"id": self._publish_image()},
            ("GET", faults.PATH): self._book.listing,
            ("GET", POLICY_PATH): self._guard.listing,
            ("POST", POLICY_PATH): lambda: self._guard.put_in_force(json.loads(body)["policies"]),
            ("DELETE", POLICY_PATH): self._guard.take_off,
            ("POST", faults.PATH): lambda: {"id": self._book.add(faults.fault_of(json.loads(body)))},
            ("DELETE", faults.PATH): lambda: {"removed": self._book.remove(None)},
            ("GET", reserved.PATH): self._capacity.listing,
            ("POST", reserved.PATH): lambda: {"id": self._capacity.add(json.loads(body))},
        }
        if path.startswith(f"{reserved.PATH}/"):
            id_ = path.removeprefix(f"{reserved.PATH}/")
            doors["DELETE", path] = lambda: {"removed": self._capacity.remove(id_)}
        number = path.removeprefix(f"{faults.PATH}/")
        if number.isdigit():
            doors["DELETE", path] = lambda: {"removed": self._book.remove(int(number))}
        if (method, path) not in doors:
            return _json({"error": f"nothing at {method} {path}"}, status=404)
        try:
            return _json(doors[method, path]())
        except ValueError as error:
            return _json({"error": str(error)}, status=400)


def _not_valid(call: ApiRequest) -> _Answer | None:
    """Return the refusal of a call of EC2 that moto would take."""
    reserved = [v for k, v in call.parameters.items() if _TAG_KEY.fullmatch(k) and v.lower().startswith("aws:")]
    if reserved:
        text = f"Tag keys starting with 'aws:' are reserved for internal use: {', '.join(reserved)}"
        return _error(call, "InvalidParameterValue", text, 400)
    if call.parameters.get("DryRun", "").lower() == "true":
        text = "Request would have succeeded, but DryRun flag is set."
        return _error(call, "DryRunOperation", text, 412)
    return None


def _error(call: ApiRequest, code: str, message: str, status: int) -> _Answer:
    """Return an error in the service's own form."""
    # The type of a JSON error stands in a header too: a service that is called by path has it nowhere else.
    headers = [("Content-Type", "text/xml"), ("X-Amzn-ErrorType", code)]
    return status, headers, error_body(call.service, code, message).encode()


def _json(value: Any, *, status: int = 200) -> Response:
    """Return plain JSON."""
    return Response(json.dumps(value) + "\n", status, content_type="application/json")
