"""JSON API under `/api/v1`; the older paths under `/api` stay as aliases."""

from fastapi import APIRouter

from scout.web.api import account, findings, older_paths, rules, runs, shops, status

API_ROUTERS: tuple[APIRouter, ...] = (
    status.router,
    shops.router,
    runs.router,
    findings.router,
    rules.router,
    account.router,
    older_paths.router,
)
"""The routers of the whole API."""
