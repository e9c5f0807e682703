"""A digest as a mail: plain text and HTML, with reports attached where they are wanted."""

import smtplib
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path

from catalog.errors import ConfigError, ScoutError
from catalog.runtime.settings import Settings

SMTP_TIMEOUT = 30.0
"""Seconds that the mail server has for each answer."""


def check_mail_settings(settings: Settings) -> None:
    """Raise ConfigError where mails cannot be sent."""
    for name in ("smtp_host", "mail_from"):
        if not getattr(settings, name):
            raise ConfigError(f"setting {name!r}: mails need it (SCOUT_{name.upper()}=...)")


def make_mail(
    settings: Settings,
    addresses: Sequence[str],
    subject: str,
    plain: str,
    html: str,
    attachments: Sequence[tuple[str, Path]] = (),
) -> EmailMessage:
    """Return a mail; `attachments` are HTML files with the names of their shops."""
    message = EmailMessage()
    message["Subject"] = " ".join(subject.split())
    message["From"] = settings.mail_from
    message["To"] = ", ".join(addresses)
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = make_msgid(domain="scout.invalid")
    # Answers and notices of absence are for nobody.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(plain)
    message.add_alternative(html, subtype="html")
    for name, path in attachments:
        message.add_attachment(
            path.read_bytes(), maintype="text", subtype="html", filename=f"{name}.html"
        )
    return message


def send_mail(settings: Settings, message: EmailMessage) -> None:
    """Send a mail by the server of the settings. Raises ConfigError, ScoutError."""
    check_mail_settings(settings)
    context = ssl.create_default_context()
    place = f"{settings.smtp_host}:{settings.smtp_port}"
    try:
        if settings.smtp_security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                settings.smtp_host, settings.smtp_port, timeout=SMTP_TIMEOUT, context=context
            )
        else:
            server = smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=SMTP_TIMEOUT)
        with server:
            if settings.smtp_security == "starttls":
                server.starttls(context=context)
            if settings.smtp_user:
                server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
            server.send_message(message)
    except smtplib.SMTPResponseException as error:
        # The server's text may repeat what was sent: only its code is kept.
        raise ScoutError(f"the mail server {place} refuses the mail ({error.smtp_code})") from error
    except (OSError, smtplib.SMTPException) as error:
        raise ScoutError(
            f"the mail cannot be sent by {place}: {type(error).__name__}: check smtp_host, "
            "smtp_port and smtp_security"
        ) from error
