"""Scout's application: command line, pipeline, schedule, web application and demo shop."""

from typing import TYPE_CHECKING

# Both branches hold the same names, which a test checks: type checkers do not know lazy_loader.
if TYPE_CHECKING:
    from scout.cli import main as main
    from scout.demo.assortment.demo_shop import DemoShop as DemoShop
    from scout.inspect.page_inspection import Inspection as Inspection
    from scout.inspect.page_inspection import inspect_page as inspect_page
    from scout.pipeline.run_summary import RunSummary as RunSummary
    from scout.pipeline.run_summary import summarize_run as summarize_run
    from scout.pipeline.shop_run import run_shop as run_shop
else:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach(
        __name__,
        submod_attrs={
            "cli": ["main"],
            "demo.assortment.demo_shop": ["DemoShop"],
            "inspect.page_inspection": ["Inspection", "inspect_page"],
            "pipeline.run_summary": ["RunSummary", "summarize_run"],
            "pipeline.shop_run": ["run_shop"],
        },
    )
