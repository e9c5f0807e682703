"""The commands of `scout`, a module a group. They import their rooms when they run, so that `--help` is quick."""

from types import ModuleType

from scout.commands import (
    catalog,
    demo,
    doctor,
    drift,
    inspect,
    offers,
    rules,
    run,
    schedule,
    serve,
    shop,
    stages,
)
from scout.commands.standalone import dedupe, evaluate, url

ROOMS: tuple[ModuleType, ...] = (
    demo,
    shop,
    catalog,
    run,
    stages,
    offers,
    inspect,
    rules,
    drift,
    url,
    dedupe,
    evaluate,
    schedule,
    serve,
    doctor,
)
