"""Rows that a path names by id or name: found, or the response is 404."""

from typing import Annotated

from fastapi import Path
from sqlmodel import Session
from starlette.exceptions import HTTPException

from catalog.models import MAX_ROW_ID, Run, Shop
from catalog.storage.store import Store

RowId = Annotated[int, Path(ge=1, le=MAX_ROW_ID)]
"""An id in a path; what cannot be one is 404."""


def get_run(store: Store, run_id: int) -> tuple[Run, Shop]:
    """Return a run and its shop. Raises HTTPException 404."""
    with store.read() as session:
        run = session.get(Run, run_id)
        if run is None:
            raise HTTPException(404, f"there is no run {run_id}")
        return run, session.get_one(Shop, run.shop_id)


def get_shop_run(session: Session, shop: Shop, run_id: int) -> Run:
    """Return a run of a shop. Raises HTTPException 404 for one of another shop."""
    run = session.get(Run, run_id)
    if run is None or run.shop_id != shop.id:
        raise HTTPException(404, f"shop {shop.name!r} has no run {run_id}")
    return run
