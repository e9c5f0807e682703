"""`scout worker`: do the jobs of the queue, and look after it; `scout status`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scout.commands.context import JsonOption, ShopArgument, command_group, get_invocation
from scout.terminal.output import (
    format_cell,
    print_json,
    print_lines,
    print_note,
    print_table,
    shorten,
)

if TYPE_CHECKING:
    from catalog.storage.store import Store
    from scout.job_queue.job_kinds import JobKind
    from scout.job_queue.shop_jobs import JobState

JOB_COLUMNS = (
    "id",
    "shop",
    "kind",
    "state",
    "priority",
    "queued_at",
    "not_before",
    "attempts",
    "worker",
    "reason",
)

REASON_LENGTH = 100
"""Characters of a reason in a table."""

MAX_PRIORITY = 1_000
"""Largest priority of a job, and the negative of the smallest one."""

MAX_GRACE = 24 * 3600.0
"""Seconds of a day: no run is meant to last longer after a signal."""

worker_commands = command_group("worker", "Workers on any number of machines, and their queue.")


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(worker_commands, invoke_without_command=True, no_args_is_help=False)
    app.command("status")(show_status)


@worker_commands.callback(invoke_without_command=True, no_args_is_help=False)
def run_worker(
    context: typer.Context,
    jobs: Annotated[
        str, typer.Option(metavar="KIND,...", help="Kinds of jobs to take, with commas between.")
    ] = "run,learn",
    at_once: Annotated[
        int, typer.Option(min=1, max=100, metavar="N", help="Jobs to do at a time.")
    ] = 1,
    grace: Annotated[
        float,
        typer.Option(
            min=0,
            max=MAX_GRACE,
            metavar="S",
            help="Seconds that runs have to end after the first signal.",
        ),
    ] = 30.0,
    drain: Annotated[
        bool, typer.Option("--drain", help="End when no job is due, instead of waiting for more.")
    ] = False,
) -> None:
    """Do the jobs of the queue until Ctrl-C or SIGTERM.

    Any number of workers share a PostgreSQL database. After a signal a worker takes no more jobs;
    runs that do not end within the grace period are handed back. A second signal ends them at once.
    """
    if context.invoked_subcommand is not None:
        return
    kinds = _parse_kinds(jobs)
    invocation = get_invocation(context)
    settings, store = invocation.settings, invocation.store
    _require_queue(store)
    from scout.workers.worker import Worker, WorkerOptions

    options = WorkerOptions(kinds, at_once, grace, drain)
    print_note(f"the worker takes jobs: {', '.join(kinds)} (Ctrl-C ends it)")
    Worker(settings, store, invocation.flags(), options).run()


@worker_commands.command("enqueue")
def enqueue_runs(
    context: typer.Context,
    shops: Annotated[
        list[str] | None, typer.Argument(metavar="[SHOP]...", help="Names of shops.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All shops with known offers, as 'scout run --all'.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start from scratch, as 'scout run --fresh'.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Do everything again, as 'scout run --full'.")
    ] = False,
    priority: Annotated[
        int,
        typer.Option(
            min=-MAX_PRIORITY,
            max=MAX_PRIORITY,
            metavar="N",
            help="Higher ones are taken first; scheduled runs have 0, requested ones 10.",
        ),
    ] = 0,
) -> None:
    """Queue the runs of shops for workers; shops that are in the queue already are named."""
    from catalog.errors import Busy
    from scout.job_queue import shop_jobs
    from scout.job_queue.job_kinds import JobKind
    from scout.pipeline import batch_run

    if bool(shops) == every:
        raise typer.BadParameter("name shops, or give --all")
    invocation = get_invocation(context)
    store = invocation.store
    _require_queue(store)
    chosen = (
        batch_run.due_shops(store) if every else [invocation.shop(name) for name in shops or ()]
    )
    options = ["--fresh"] * fresh + ["--full"] * full
    queued = 0
    for shop in chosen:
        try:
            shop_jobs.enqueue(store, shop, JobKind.RUN, options, priority=priority)
            queued += 1
        except Busy as busy:
            print_lines(str(busy))
    print_lines(f"{queued} of {len(chosen)} shops queued")


@worker_commands.command("jobs")
def list_jobs(
    context: typer.Context,
    state: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATE",
            help="waiting, running, done, cancelled or 'set aside'; may be repeated.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the jobs of the queue: by default those that are not finished, and those set aside.

    With --json, one object a line.
    """
    from dataclasses import asdict

    from scout.job_queue import shop_jobs

    store = get_invocation(context).store
    _require_queue(store)
    states = _parse_states(state or ["running", "waiting", "set aside"])
    jobs = shop_jobs.list_jobs(store, states)
    if as_json:
        for job in jobs:
            print_json(asdict(job))
        return
    rows = []
    for job in jobs:
        values: dict[str, Any] = asdict(job)
        rows.append([*(values[name] for name in JOB_COLUMNS[:-1]), _shortened(job.reason)])
    print_table(JOB_COLUMNS, rows)


@worker_commands.command("retry")
def retry_job(context: typer.Context, shop: ShopArgument) -> None:
    """Queue a job again that was set aside."""
    from scout.job_queue import shop_jobs

    invocation = get_invocation(context)
    _require_queue(invocation.store)
    job = shop_jobs.retry_set_aside(invocation.store, invocation.shop(shop))
    print_lines(f"shop {format_cell(shop)} is queued again (job {job})")


@worker_commands.command("cancel")
def cancel_job(context: typer.Context, shop: ShopArgument) -> None:
    """Take a shop out of the queue, or end its run, on whichever machine; it can be resumed."""
    from catalog.errors import UsageError
    from catalog.storage.leases import lease_table
    from scout.job_queue import shop_jobs
    from scout.pipeline import locks

    invocation = get_invocation(context)
    store, stored_shop = invocation.store, invocation.shop(shop)
    _require_queue(store)
    if shop_jobs.cancel_waiting(store, stored_shop):
        print_lines(f"shop {format_cell(shop)} is no longer queued")
        holder = locks.find_holder(invocation.settings, store, shop_jobs.shop_lock(stored_shop))
        if holder is not None:
            # Somebody runs it without the queue.
            busy = lease_table.busy_message("it", holder)
            print_lines(f"{format_cell(busy)}; 'scout worker cancel' once more ends that run")
    elif lease_table.request_end(store, shop_jobs.shop_lock(stored_shop)):
        print_lines(f"the run of shop {format_cell(shop)} ends in a moment")
    elif shop_jobs.cancel_lost(store, stored_shop, invocation.settings.lease_seconds):
        print_lines(f"shop {format_cell(shop)} is no longer queued; its worker was lost")
    else:
        raise UsageError(f"shop {shop!r} is neither queued nor run: 'scout status' shows which are")


def show_status(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show the shops that are in use, on any machine, and the jobs and workers of the queue."""
    from dataclasses import asdict

    from scout.work_status import read_work_status

    invocation = get_invocation(context)
    status = read_work_status(invocation.settings, invocation.store)
    if as_json:
        print_json(asdict(status))
        return
    rows = [list(vars(running).values()) for running in status.running]
    print_table(("shop", "run", "stage", "host", "process", "since", "purpose"), rows)
    if status.jobs is not None:
        counts = ", ".join(f"{number} {state}" for state, number in status.jobs.items())
        print_lines(f"jobs: {counts}", f"workers: {status.workers}")
    for job in status.set_aside:
        reason = format_cell(_shortened(job.reason))
        print_lines(f"set aside: {format_cell(job.shop)}: {reason}")


def _require_queue(store: "Store") -> None:
    from scout.job_queue.queue_schema import require_queue

    require_queue(store)


def _parse_kinds(text: str) -> "list[JobKind]":
    from scout.job_queue.job_kinds import QUEUED_KINDS

    names = {kind.value: kind for kind in QUEUED_KINDS}
    kinds = [names.get(part.strip()) for part in text.split(",")]
    chosen = [kind for kind in kinds if kind is not None]
    if not chosen or len(chosen) < len(kinds):
        raise typer.BadParameter(f"--jobs {text!r}: choose from {','.join(names)}")
    return chosen


def _parse_states(names: list[str]) -> "list[JobState]":
    from scout.job_queue.shop_jobs import JobState

    try:
        return [JobState(name) for name in names]
    except ValueError as error:
        choices = ", ".join(state.value for state in JobState)
        raise typer.BadParameter(f"{error}: choose from {choices}") from error


def _shortened(reason: str | None) -> str | None:
    return shorten(reason, REASON_LENGTH) if reason else None
