"""Every caller by every way to write: nothing is touched, given or told beyond what a key has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import write_matrix
from auscult_service.app import create_app
from auscult_service.guard.fairness import Buckets
from auscult_service.settings import Settings
from encoders import HashedEncoder
from guarded_service import make_keys
from served_index import wait_until


@pytest.mark.slow
def test_keys_can_change_only_their_own_documents(tmp_path: Path) -> None:
    encoder = HashedEncoder(64)
    indexes = write_matrix.build(tmp_path, encoder)
    keys = make_keys(tmp_path / "keys.json")
    app = create_app(Settings(indexes=indexes, keys=tmp_path / "keys.json", data=tmp_path / "data"), encoder)
    with TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client:
        # Strangers try again and again here; that they are slowed down is tried elsewhere.
        app.state.gate.failures = Buckets(0)
        wait_until(lambda: client.get("/api/v1/ready").status_code == 200)

        def ask(caller: str, method: str, path: str, **more: Any) -> Any:
            client.cookies.clear()
            headers = {} if caller == "none" else {"Authorization": f"Bearer {keys.get(caller, 'auscult_none')}"}
            return client.request(method, path, headers=headers, **more)

        outcome = write_matrix.run(ask, tmp_path, together=True)
    assert outcome.wrong == []
    # That it is tried: callers change their own, and are refused.
    assert outcome.changed == len(write_matrix.WRITERS) * len(write_matrix.FORMS)
    assert {201, 202, 303, 401, 403, 404, 422} <= set(outcome.statuses)
