"""The indexes that are served. Each is opened once, and again when a writer has published another generation.

A request keeps the searcher that it began with, so a new generation never breaks a request. The old generation is
closed when its last request has ended. Each generation has the names that complete what a user types.
"""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from auscult.encoders.contract import DocumentEncoder
from auscult.engines import manifest_at, signs_of
from auscult.errors import AuscultError
from auscult.index.manifest import STORE, Manifest
from auscult.index.storage import current_store
from auscult.index.store import Store
from auscult.search import Searcher
from auscult_service.caller import Caller, unknown_index
from auscult_service.errors import Refusal
from auscult_service.names import Names
from auscult_service.settings import Settings

_LOG: Final = logging.getLogger("auscult.service")
_EVERY: Final = 1.0
_PATIENCE: Final = 20.0
_KEPT_VIEWS: Final = 32


def settle() -> None:
    """Collect garbage, and exclude all objects that are alive now from later collections.

    The names of an index are a million objects. Traversing them took 0.15 s once in a hundred searches, 9 % of their
    processor time. The names of an earlier generation are traversed here once more, so that they can be freed.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@dataclass(slots=True)
class Opened:
    """One opened generation of an index.

    Attributes:
        searcher: The searcher over all documents.
        identity: Identity of the build, and number of the generation.
        views: By groups, the searcher over the documents that they see.
        names: By groups, the names for completion over these documents; None for all documents.
    """

    searcher: Searcher
    identity: tuple[str, int]
    views: dict[frozenset[str], Searcher] = field(default_factory=dict)
    names: dict[frozenset[str] | None, Names] = field(default_factory=dict)

    def seen_by(self, groups: frozenset[str] | None) -> Searcher:
        """Return the searcher over the documents that some groups see."""
        if groups is None:
            return self.searcher
        view = self.views.get(groups)
        if view is None:
            if len(self.views) >= _KEPT_VIEWS:
                self.views.clear()
            view = self.views[groups] = self.searcher.seen_by(groups)
        return view

    def warm_up(self, *, names: bool, before: Searcher | None = None) -> None:
        """Load what first requests would wait for: see `Searcher.warm_up`, and the names for completion."""
        self.searcher.warm_up(before)
        if names:
            self.names_for(None).build()
        settle()

    def names_for(self, groups: frozenset[str] | None) -> Names:
        """Return the names for completion over the documents that some groups see."""
        searcher = self.seen_by(groups)
        if searcher is self.searcher:
            return self.names.setdefault(None, Names(searcher))
        if groups not in self.names:
            if len(self.names) >= _KEPT_VIEWS:
                self.names = {None: self.names[None]} if None in self.names else {}
            self.names[groups] = Names(searcher)
            self.names[groups].build()
        return self.names[groups]


class Served:
    """One index that is served.

    Args:
        name: Its name in requests.
        index: Its folder, or the address of a server that has the whole index.
        encoder: The model that it was built with; None for the one that its manifest names.
        completes: Whether to build names for completion.

    Attributes:
        changing: Lock for changes of the index by this service.
        trouble: Why it could not be opened at the last attempt; None where it could.
    """

    def __init__(
        self, name: str, index: Path | str, encoder: DocumentEncoder | None = None, *, completes: bool = True
    ) -> None:
        self.name = name
        self._completes = completes
        self._index = index
        self._encoder = encoder
        self._opened: Opened | None = None
        self._signs: object = None
        # The next generation and its signs, until it answers requests.
        self._next: tuple[Opened, object] | None = None
        self._warm = False
        self._is_there = threading.Event()
        self._opening = threading.Lock()
        self.changing = threading.Lock()
        self.trouble: AuscultError | None = None

    @property
    def folder(self) -> Path:
        """Folder of the index, for changes."""
        # An index at an address is read-only (`Settings`), so this is never asked for one.
        return Path(self._index)

    @property
    def is_open(self) -> bool:
        """Whether a generation has been opened."""
        return self._opened is not None

    @property
    def opened(self) -> Opened:
        """The generation that answers requests; waits for the first one.

        Raises:
            Refusal: None could be opened so far.
        """
        if self._opened is None:
            self._is_there.wait(_PATIENCE)
        if self._opened is None:
            remedy = "come again in a few seconds; /ready says when all indexes are open"
            raise Refusal(503, "not_ready", "expected an open index, got one that is not yet", remedy, _SOON)
        return self._opened

    def refresh(self, before: Callable[[str], None] | None = None) -> bool:
        """Open the published generation if it is a new one, and answer from it. Return whether it was new.

        While an index cannot be opened, for instance during a restore from a backup, the earlier generation answers.

        Args:
            before: Called with the name of the index when the generation is open, before it answers.
        """
        if not self.prepare():
            return False
        if before is not None:
            before(self.name)
        with self._opening:
            return self._switch()

    def switch(self, identity: tuple[str, int]) -> bool:
        """Answer from a generation if it is the prepared one. Return whether it is the one that answers now."""
        with self._opening:
            if self._next is not None and self._next[0].identity == identity:
                self._switch()
            return self._opened is not None and self._opened.identity == identity

    def _switch(self) -> bool:
        if self._next is None:
            return False
        (self._opened, self._signs), self._next = self._next, None
        self._is_there.set()
        return True

    def prepare(self) -> bool:
        """Open the published generation beside the one that answers. Return whether it is a new one."""
        with self._opening:
            signs = signs_of(self._index)
            if self._opened is not None and signs == self._signs:
                return False
            if self._next is not None and signs == self._next[1]:
                return True
            try:
                manifest = _published(self._index)
                encoder = self._encoder
                if self._opened is not None and manifest is not None:
                    if (manifest.identity, manifest.generation) == self._opened.identity:
                        self._signs = signs
                        return False
                    at_hand = self._opened.searcher.encoder
                    if encoder is None and at_hand.fingerprint == manifest.model.fingerprint:
                        # Loading a model again would take a second.
                        encoder = at_hand
                searcher = Searcher.open(self._index, encoder)
                opened = Opened(searcher, (searcher.index.manifest.identity, searcher.index.manifest.generation))
                if self._opened is not None:
                    # The earlier generation answers until the new one is as fast.
                    opened.warm_up(names=self._completes, before=self._opened.searcher)
            except AuscultError as error:
                if self.trouble is None or str(self.trouble) != str(error):
                    _LOG.error("index '%s' cannot be opened: %s", self.name, error)
                self.trouble = error
                return False
            self._next, self.trouble = (opened, signs), None
        return True

    def warm_up(self) -> None:
        """Warm up the first generation, once. Later ones are warmed up before they answer."""
        if self._opened is not None and not self._warm:
            self._warm = True
            self._opened.warm_up(names=self._completes)


_SOON: Final = {"Retry-After": "2"}


def _published(index: Path | str) -> Manifest | None:
    """Return the manifest of the published generation of a folder or server; None where there is none."""
    if isinstance(index, str):
        return manifest_at(index)
    store = current_store(index)
    if store is None:
        return None
    try:
        opened = Store(store / STORE)
    except FileNotFoundError:
        return None
    try:
        return opened.manifest()
    finally:
        opened.close()


class State:
    """The settings and the served indexes of an app.

    Args:
        encoder: The model for all indexes; None for those that their manifests name.
        completes: Whether to build names for completion.

    Attributes:
        is_warm: Whether all indexes are warmed up.
        before_switch: Called with the name of an index when a new generation of it is open, before it answers.
    """

    def __init__(self, settings: Settings, encoder: DocumentEncoder | None = None, *, completes: bool = True) -> None:
        self.settings = settings
        self.indexes = {
            name: Served(name, index, encoder, completes=completes) for name, index in settings.indexes.items()
        }
        self._stopping = threading.Event()
        self._watcher: threading.Thread | None = None
        self.is_warm = False
        self.before_switch: Callable[[str], None] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether every index is open, and the service is not stopping."""
        return all(each.is_open for each in self.indexes.values()) and not self._stopping.is_set()

    def start(self) -> None:
        """Open the indexes, and watch for new generations, in the background."""
        self._watcher = threading.Thread(target=self._watch, name="generations", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Stop watching for new generations."""
        self._stopping.set()
        if self._watcher is not None:
            self._watcher.join(timeout=_PATIENCE)

    def refresh(self, name: str) -> None:
        """Open the published generation of an index now, without waiting for the watcher."""
        self.indexes[name].refresh(self.before_switch)

    def generations(self) -> dict[str, tuple[str, int]]:
        """Return the generation that answers for each open index."""
        return {name: each.opened.identity for name, each in self.indexes.items() if each.is_open}

    def names(self, caller: Caller) -> list[str]:
        """Return the names of the indexes that a caller may use."""
        return [name for name in self.indexes if caller.indexes is None or name in caller.indexes]

    def served(self, name: str | None, caller: Caller) -> Served:
        """Return an index by name; without a name, the first one that the caller may use.

        Raises:
            Refusal: There is no such index, or the caller may not use it.
        """
        names = self.names(caller)
        wanted = name or next(iter(names), "")
        if wanted not in names:
            raise unknown_index()
        return self.indexes[wanted]

    def searcher(self, name: str | None, caller: Caller) -> Searcher:
        """Return the searcher over the documents of an index that a caller sees.

        Raises:
            Refusal: There is no such index for them, or it is not open yet.
        """
        return self.served(name, caller).opened.seen_by(caller.groups)

    def _watch(self) -> None:
        while True:
            for name in self.indexes:
                try:
                    self.refresh(name)
                except Exception as error:
                    # Try again at the next interval; requests are answered from what is open.
                    _LOG.error("index '%s' could not be looked at: %s", name, type(error).__name__)
            if self._stopping.wait(_EVERY):
                return
            # `serve` has turned it off for the time until the first answers.
            gc.enable()
            # Only now, so that the first question does not share the processor with this.
            for name, served in self.indexes.items():
                try:
                    served.warm_up()
                except Exception as error:
                    # What was not loaded now is loaded when it is needed.
                    _LOG.error("index '%s' could not be warmed up: %s", name, type(error).__name__)
            self.is_warm = True
