"""Rows for every table of a store, as the database holds them: one shop with two runs.

They have what a copy or a migration could lose: NULL beside JSON's null, numbers of 64 bits,
microseconds, quotes and letters of many scripts, and ids with gaps.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 1, 1, 5, 30, tzinfo=UTC).replace(tzinfo=None)
"""Time at which the first run started, in UTC, without a zone as databases hold it."""

LATER = START + timedelta(days=1, microseconds=123_456)
URL = "https://a.example/"
TEXT = 'Lampe "Ä" \\ tab\tline\nπ 灯 \U0001f4a1 {}'
OFFER = {
    "title": TEXT,
    "description": "",
    "price": "1299.10",
    "currency": "EUR",
    "brand": None,
    "category": "Home > Lamps",
    "images": [URL + "1.jpg"],
    "ean": "4006381333931",
    "han": "L-1",
    "sku": "0012",
    "availability": "in_stock",
}

Rows = Sequence[Mapping[str, Any]]

ROWS: dict[str, Rows] = {
    "shop": [
        {
            "id": 3,
            "name": "Läden & Co",
            "url": URL,
            "allow_private": True,
            "max_pages": 9,
            "max_bytes": 5_000_000_000,
            "max_minutes": 0.1,
            "window": "22:00-06:00",
            "delay": 0.25,
            "crawlers": 2,
            "javascript": False,
            "sitemaps": [URL + "sitemap.xml"],
            "created_at": START,
        }
    ],
    "run": [
        {
            "id": 4,
            "shop_id": 3,
            "state": "done",
            "stage": "report",
            "reason": None,
            "figures": {"report": {"html": "reports/3-a/4/report.html"}, "share": 0.1},
            "fingerprints": {"learn": "ab"},
            "started_at": START,
            "finished_at": LATER,
        },
        {
            "id": 9,
            "shop_id": 3,
            "state": "running",
            "stage": "crawl",
            "reason": TEXT,
            "figures": {},
            "fingerprints": {},
            "started_at": LATER,
            "finished_at": None,
        },
    ],
    "crawl": [
        {
            "id": 1,
            "shop_id": 3,
            "run_id": 4,
            "started_at": START,
            "finished_at": LATER,
            "requests": 12,
            "bytes": 6_000_000_000,
            "seconds": 1.5,
            "stopped": None,
            "pages": {"fetched": 2},
            "reasons": {},
            "figures": {"robots": None},
        }
    ],
    "page": [
        {
            "id": 5,
            "shop_id": 3,
            "url": URL + "1",
            "state": "fetched",
            "reason": None,
            "source": "sitemap",
            "priority": -2,
            "depth": 1,
            "chain": 0,
            "attempts": 1,
            "not_before": None,
            "leased_until": None,
            "status": 200,
            "content_type": "text/html",
            "size": 70_000,
            "body": "0a" * 20,
            "canonical": None,
            "language": "de",
            "alternates": {"en": URL + "en/1"},
            "sitemap_alternates": None,
            "etag": '"x"',
            "last_modified": None,
            "lastmod": START,
            "fetched_at": LATER,
            "changed_at": LATER,
            "unchanged": 3,
            "run_id": 4,
            "rules_version": 1,
            "kind": "offer",
            "read_reason": None,
            "read_key": "k",
            "digest_key": "d",
        },
        {
            "id": 8,
            "shop_id": 3,
            "url": URL + "leased",
            "state": "leased",
            "source": "link",
            "priority": 0,
            "depth": 2,
            "chain": 1,
            "attempts": 2,
            "leased_until": LATER,
            "unchanged": 0,
        },
    ],
    "known_offer": [
        OFFER
        | {
            "id": 2,
            "shop_id": 3,
            "ref": "r-1",
            "url": URL + "1",
            "link": "https://click.example/?u=1",
            "opaque": False,
            "product": "p",
            "imported_at": START,
            "generation": 2,
        }
    ],
    "former_offer": [
        OFFER
        | {
            "id": 1,
            "known_id": 2,
            "shop_id": 3,
            "ref": "r-1",
            "url": URL + "1",
            "link": None,
            "opaque": True,
            "product": None,
            "imported_at": START,
            "generation": 1,
        }
    ],
    "lost_offer": [
        {
            "id": 1,
            "shop_id": 3,
            "ref": "r-0",
            "url": URL + "0",
            "title": TEXT,
            "ean": None,
            "han": None,
            "sku": "1",
            "generation": 1,
            "lost_at": START,
            "cleared_by": None,
        }
    ],
    "shop_offer": [
        OFFER
        | {
            "id": 6,
            "shop_id": 3,
            "page_id": 5,
            "url": URL + "1",
            "variant": 0,
            "variant_of": None,
            "readings": {"price": {"weight": 0.97, "raw": "7,90 €"}},
        }
    ],
    "catalog_import": [
        {
            "id": 2,
            "shop_id": 3,
            "generation": 2,
            "source": "feed.csv",
            "format": "csv",
            "columns": {"title": ["Name", "Titel"]},
            "read": 2,
            "kept": 1,
            "bad": 1,
            "reasons": {"no title": 1},
            "imported_at": START,
            "undone_at": None,
            "undone_by": None,
        }
    ],
    "bad_row": [
        {
            "id": 7,
            "shop_id": 3,
            "source": "feed.csv",
            "line": 3,
            "reason": "no title",
            "raw": TEXT,
            "at": START,
        }
    ],
    "stored_rules": [
        {
            "id": 1,
            "shop_id": 3,
            "version": 1,
            "run_id": 4,
            "rules": {"rules": [{"selector": {"kind": "css", "css": "h1"}}]},
            "story": {},
            "created_at": START,
        }
    ],
    "match": [
        {
            "id": 11,
            "run_id": 4,
            "shop_id": 3,
            "url": URL + "1",
            "urls": [URL + "1"],
            "known_id": 2,
            "verdict": "listed",
            "score": 0.1 + 0.2,
            "reasons": ["same ean"],
            "why": None,
            "offer": {"title": TEXT},
            "nearest": {"title": "Lamp"},
            "variant_of": None,
        },
        {
            "id": 12,
            "run_id": 4,
            "shop_id": 3,
            "url": URL + "2",
            "urls": [],
            "known_id": None,
            "verdict": "missing",
            "score": 1e-12,
            "reasons": [],
            "why": {"candidates": []},
            "offer": {"title": "Other", "price": "5", "currency": "EUR"},
            "nearest": None,
            "variant_of": URL + "1",
        },
    ],
    "persons_word": [
        {
            "id": 1,
            "shop_id": 3,
            "url": URL + "2",
            "word": "accept",
            "note": TEXT,
            "at": LATER,
            "reviewer": "Ann",
        }
    ],
    "review_step": [
        {
            "id": 1,
            "shop_id": 3,
            "action": "accept",
            "selection": URL + "2",
            "reviewer": "Ann",
            "made_at": LATER,
        }
    ],
    "review_change": [
        {
            "id": 1,
            "step_id": 1,
            "shop_id": 3,
            "url": URL + "2",
            "before": None,
            "after": {"decision": "accept"},
            "finding": {"cause": None},
            "undone_at": None,
            "undone_by": None,
        }
    ],
    "finding": [
        {
            "id": 20,
            "run_id": 4,
            "shop_id": 3,
            "match_id": 12,
            "url": URL + "2",
            "rank": 1,
            "verdict": "missing",
            "is_ignored": False,
            "amount": 5.0,
            "price": "5.00",
            "value": "5.00",
            "currency": "EUR",
            "title": "Other",
            "brand": None,
            "brand_key": "",
            "category": None,
            "category_key": "",
            "score": 1e-12,
            "cause": "feed",
            "change": "new",
            "decision": "accept",
            "note": TEXT,
            "reviewed_at": LATER,
            "reviewer": "Ann",
            "fetched_at": LATER,
            "first_seen_at": START,
            "first_seen_run_id": 4,
            "last_seen_at": LATER,
            "since_at": START,
            "since_run_id": 4,
            "was_missing": True,
            "lost_run_id": None,
            "variant_of": URL + "1",
            "urls": [URL + "2"],
            "evidence": ["text", ["key", {"count": 1}]],
        }
    ],
    "run_counts": [
        {
            "run_id": 4,
            "shop_id": 3,
            "previous_run_id": None,
            "listed": 1,
            "missing": 1,
            "unsure": 0,
            "ignored": 0,
            "unpriced": 0,
            "known_offers": 1,
            "newest_match_id": 12,
            "currency": "EUR",
            "ranking": "",
            "no_longer_seen": 0,
            "amounts": {"EUR": "5.00"},
            "changes": {"new": 1},
            "decisions": {"accept": 1},
            "causes": [{"cause": "feed", "missing": 1}],
            "pages": {"fetched": 2},
            "stored_at": LATER,
        }
    ],
    "shop_assessment": [{"shop_id": 3, "basis": "4 done 2", "assessed_at": LATER}],
    "attention_item": [
        {
            "id": 1,
            "shop_id": 3,
            "kind": "failed",
            "severity": 2,
            "subject": "4",
            "arguments": {"reason": TEXT},
            "noticed_at": LATER,
            "dismissed_at": None,
            "dismissed_by": None,
        }
    ],
    "dismissed_cause": [
        {"id": 1, "shop_id": 3, "cause": "feed", "dismissed_by": "Ann", "dismissed_at": LATER}
    ],
    "delivery": [
        {
            "id": 1,
            "name": "weekly",
            "kind": "mail",
            "target": "ann@a.example",
            "shops": ["Läden & Co"],
            "cron": "0 6 * * 1",
            "language": "de",
            "secret": None,
            "with_report": True,
            "is_paused": False,
            "last_sent_at": None,
            "last_error": None,
        }
    ],
    "schedule": [
        {"id": 1, "shop_id": 3, "cron": "@daily", "last_started_at": None, "is_paused": True}
    ],
    "sitemap_seen": [
        {
            "id": 1,
            "run_id": 4,
            "url": URL + "sitemap.xml",
            "status": 200,
            "urls_found": 7_000_000_000,
        }
    ],
    "account": [
        {
            "id": 1,
            "name": "Ann",
            "name_key": "ann",
            "role": "admin",
            "password_hash": "$argon2id$...",
            "subject": None,
            "language": None,
            "created_at": START,
            "last_login_at": LATER,
        }
    ],
    "api_token": [
        {
            "id": 1,
            "account_id": 1,
            "name": "ci",
            "role": "viewer",
            "digest": "0" * 64,
            "created_at": START,
            "expires_at": None,
            "last_used_at": None,
        }
    ],
    "web_session": [
        {
            "id": 1,
            "account_id": 1,
            "digest": "1" * 64,
            "created_at": START,
            "seen_at": LATER,
            "messages": [{"text": TEXT}],
        }
    ],
    "login_failure": [{"id": 1, "name_key": "eve", "address": "127.0.0.1", "failed_at": START}],
    "audit_entry": [
        {
            "id": 1,
            "made_at": START,
            "actor": "ann",
            "action": "shop.add",
            "shop": "Läden & Co",
            "details": {"url": URL},
        }
    ],
    "known_index": [
        {
            "shop_id": 3,
            "build": 2,
            "layout": 1,
            "catalog_state": "1/2",
            "updates": 0,
            "documents": 1,
            "parts": 1,
            "built_at": LATER,
        }
    ],
    "known_index_part": [
        {
            "id": 5,
            "shop_id": 3,
            "build": 2,
            "kind": "tokens",
            "number": 0,
            "data": bytes(range(256)),
        }
    ],
    "crawl_event": [
        {"id": 4, "shop_id": 3, "run_id": 1, "number": 0, "data": bytes(range(256))},
    ],
    "lease": [
        {
            "id": 1,
            "name": "shop-3",
            "token": 5_000_000_000,
            "host": "a",
            "process_id": 7,
            "purpose": "a run",
            "lock_file": "1:2:3",
            "acquired_at": START,
            "renewed_at": LATER,
            "expires_at": LATER,
            "is_end_requested": False,
        }
    ],
    "job_attempt": [
        {
            "id": 2,
            "job_id": 5_000_000_000,
            "shop_id": 3,
            "kind": "run",
            "worker": "a:7",
            "started_at": START,
            "ended_at": LATER,
            "outcome": "failed",
            "reason": TEXT,
        }
    ],
    "queue_schema": [{"id": 1, "version": "3.10.0"}],
}
