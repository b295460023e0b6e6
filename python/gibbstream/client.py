"""A client of a running service (``gibbstream serve``), with nothing but the standard library."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

__all__ = ["Client", "ServiceError"]

Document = str | Mapping[str, Any]

_MOST_BYTES = 4 << 20

_TRY_AGAIN = (408, 429, 500, 502, 503, 504)


class ServiceError(RuntimeError):
    """The service refused a request, or could not be reached.

    Attributes
    ----------
    status : int or None
        The HTTP status; None if there was no answer.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Sends documents to a service and asks it questions.

    Requests that fail because the service is busy, restarting or out of reach are made again, with longer and longer
    pauses. Documents are sent under a name of their own (``Idempotency-Key``), so that they are learnt from once,
    however often they had to be sent.

    Parameters
    ----------
    url : str
        Where the service listens.
    token : str, optional
        The token that it asks for.
    timeout : float
        Seconds to wait for an answer.
    patience : float
        Seconds after which a request that cannot be answered is given up.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8700")
    >>> client.learn(["the plot of the film", {"id": "b", "text": "a novel"}])  # doctest: +SKIP
    2
    >>> client.topics()["topics"][0]["words"][0]["word"]  # doctest: +SKIP
    'film'
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8700",
        token: str | None = None,
        timeout: float = 30.0,
        patience: float = 60.0,
    ) -> None:
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.patience = patience
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        # A service on this machine is not behind a proxy.
        self._open = build_opener(ProxyHandler({})).open

    def learn(self, documents: Iterable[Document], *, at_once: int = 1000, max_wait: float = 1.0) -> int:
        """Send documents to learn from, and return how many were accepted.

        When it returns, all are on the disk of the service. Documents are sent as they come, so the iterable may be
        slow or endless.

        Parameters
        ----------
        documents : iterable of str or mapping
            Texts, or objects with a field ``text`` (and perhaps ``id``, and others, which are kept in the log).
        at_once : int
            Documents in a request, at most; a request is also cut at 4 MiB.
        max_wait : float
            Seconds that a document waits for others of its request.
        """
        lines = (json.dumps(_object(document), ensure_ascii=False).encode() for document in documents)
        return sum(self._send(together) for together in _requests(lines, at_once, max_wait))

    def _send(self, lines: list[bytes]) -> int:
        headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": str(uuid.uuid4())}
        answer = self._json("POST", "/v1/documents", b"\n".join(lines), headers)
        return int(answer["accepted"])

    def infer(self, documents: Iterable[Document], *, top: int | None = None) -> list[dict[str, Any]]:
        """The topic mixtures of documents.

        Parameters
        ----------
        documents : iterable of str or mapping
            Texts, or objects with one of ``text``, ``tokens`` and ``counts``.
        top : int, optional
            Only so many of the largest shares of each, largest first.

        Returns
        -------
        list of dict
            ``id``, ``index``, ``tokens``, ``out_of_vocabulary_tokens`` and ``theta`` of each.
        """
        asked: dict[str, Any] = {"documents": [_object(document) for document in documents]}
        if top is not None:
            asked["top"] = top
        answer = self._json("POST", "/v1/infer", json.dumps(asked).encode(), {"Content-Type": "application/json"})
        return list(answer["documents"])

    def topics(self, *, words: int = 10, relevance: float | None = None) -> dict[str, Any]:
        """All topics with their best words, as ``gibbstream topics --json`` gives them."""
        asked = {"words": words} if relevance is None else {"words": words, "lambda": relevance}
        return self._json("GET", "/v1/topics?" + urlencode(asked))

    def word(self, word: str) -> dict[str, Any]:
        """The topics that a word belongs to."""
        return self._json("GET", "/v1/words/" + quote(word, safe=""))

    def timeline(self) -> dict[str, Any]:
        """How the topics' shares of the documents change over time."""
        return self._json("GET", "/v1/timeline")

    def model(self) -> dict[str, Any]:
        """What the model is, its ``model_hash``, and where learning stands (``progress``)."""
        return self._json("GET", "/v1/model")

    def save(self, path: str) -> None:
        """Write the model file of this moment, for :meth:`gibbstream.LDA.load` and the program."""
        data = self._request("GET", "/v1/model.gbs", None, {})
        with open(path, "wb") as file:
            file.write(data)

    def pause(self) -> None:
        """Learn no further; documents are still taken."""
        self._order("pause")

    def resume(self) -> None:
        """Go on learning."""
        self._order("resume")

    def checkpoint(self) -> None:
        """Write a checkpoint now."""
        self._order("checkpoint")

    def wait(self, *, most_waiting: int = 0, seconds: float = 60.0) -> dict[str, Any]:
        """Wait until no more than so many documents wait to be learnt from, and return what :meth:`model` does.

        Documents of a minibatch that is not full wait on: with ``--batch 100``, up to 99 do.
        """
        until = time.monotonic() + seconds
        while True:
            model = self.model()
            progress = model["progress"]
            if progress["waiting"] <= most_waiting and progress["documents"] == model["documents"]:
                return model
            if time.monotonic() > until:
                raise TimeoutError(f"{progress['waiting']} documents still wait to be learnt from")
            time.sleep(0.05)

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Server-sent events as they arrive: pairs of a name (``progress``, ``snapshot``, ...) and its data."""
        name = ""
        with self._open(self._make("GET", "/v1/events", None, {}), timeout=self.timeout) as answer:
            for raw in answer:
                line = raw.decode().rstrip("\r\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    yield name, json.loads(line[6:])

    def _order(self, action: str) -> None:
        self._json("POST", "/v1/control", json.dumps({"action": action}).encode())

    def _json(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._request(method, path, body, headers or {}))
        return answer

    def _make(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Request:
        return Request(self.url + path, data=body, method=method, headers=self._headers | dict(headers))

    def _request(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> bytes:
        until, pause = time.monotonic() + self.patience, 0.1
        while True:
            try:
                with self._open(self._make(method, path, body, headers), timeout=self.timeout) as answer:
                    data: bytes = answer.read()
                    return data
            except HTTPError as error:
                refused, wanted = _refusal(error), error.headers.get("Retry-After")
                if error.code not in _TRY_AGAIN:
                    raise refused from None
                wait = max(pause, float(wanted)) if wanted else pause
            except (URLError, OSError, HTTPException) as error:
                reason = getattr(error, "reason", error)
                refused, wait = ServiceError(f"{self.url} cannot be reached: {reason}; is the service running?"), pause
            if time.monotonic() + wait > until:
                raise refused
            time.sleep(wait)
            pause = min(2 * pause, 5.0)


def _refusal(error: HTTPError) -> ServiceError:
    try:
        with error:
            detail = json.loads(error.read())["detail"]
    except (ValueError, KeyError, TypeError, OSError):
        detail = error.reason
    return ServiceError(str(detail), error.code)


def _object(document: Document) -> dict[str, Any]:
    return {"text": document} if isinstance(document, str) else dict(document)


def _requests(lines: Iterator[bytes], at_once: int, max_wait: float) -> Iterator[list[bytes]]:
    """Lines that are sent together: so many, so large, or as many as came within the time.

    Another thread waits for the lines, because an iterator cannot be asked whether it has one.
    """
    arrived: queue.Queue[bytes | BaseException | None] = queue.Queue(maxsize=at_once)
    given_up = threading.Event()

    def put(item: bytes | BaseException | None) -> None:
        while not given_up.is_set():
            with contextlib.suppress(queue.Full):
                arrived.put(item, timeout=0.1)
                return

    def read() -> None:
        try:
            for line in lines:
                put(line)
                if given_up.is_set():
                    return
            put(None)
        except BaseException as error:
            put(error)

    threading.Thread(target=read, daemon=True).start()
    try:
        yield from _grouped(arrived, at_once, max_wait)
    finally:
        given_up.set()


def _grouped(
    arrived: queue.Queue[bytes | BaseException | None], at_once: int, max_wait: float
) -> Iterator[list[bytes]]:
    together: list[bytes] = []
    size, until = 0, 0.0
    while True:
        try:
            item = arrived.get(timeout=max(0.0, until - time.monotonic()) if together else None)
        except queue.Empty:
            yield together
            together, size = [], 0
            continue
        ends = not isinstance(item, bytes)
        if together and (ends or len(together) == at_once or size + len(item) > _MOST_BYTES):  # type: ignore[arg-type]
            yield together
            together, size = [], 0
        if isinstance(item, bytes):
            if not together:
                until = time.monotonic() + max_wait
            together.append(item)
            size += len(item) + 1
        elif item is None:
            return
        else:
            raise item
