"""Languages of readers: translated texts, and numbers, money and times as the reader writes them.

A `Language` is a value that is loaded once and passed to all code that writes texts for people.
Machine formats (JSON, CSV, feeds, logs) take none: they are English, with numbers as programs read
them.

- Python: `language.gettext("No page of the shop was discovered.")`, `language.ngettext(...)` with a
  number, and `gettext_noop("...")` around a constant that is translated later.
- Sentences that are stored: `Sentence` keeps the template and its arguments
  (`catalog.language.sentences`).
- Jinja templates: `template_environment` has `{% trans %}`, `_()` and the filters of numbers
  (`catalog.language.templates`).

`make translations` collects the messages of all packages in translations/de.po. A message without a
translation is shown in English.
"""
