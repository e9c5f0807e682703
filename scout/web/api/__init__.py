"""JSON API under `/api/v1`; the older paths under `/api` stay as aliases."""

from fastapi import APIRouter

from scout.web.api import older_paths, status

API_ROUTERS: tuple[APIRouter, ...] = (status.router, older_paths.router)
"""The routers of the whole API."""
