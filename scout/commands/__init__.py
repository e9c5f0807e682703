"""The commands of `scout`, a module a group. They import their rooms when they run, so that `--help` is quick."""

from types import ModuleType

from scout.commands import (
    catalog,
    demo,
    doctor,
    evaluate,
    inspect,
    offers,
    rules,
    run,
    schedule,
    serve,
    shop,
    stages,
    url,
)

ROOMS: tuple[ModuleType, ...] = (
    demo,
    shop,
    catalog,
    run,
    stages,
    offers,
    inspect,
    rules,
    url,
    evaluate,
    schedule,
    serve,
    doctor,
)
