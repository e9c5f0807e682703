"""Triggers in the database that note who ran a shop: no shop may be run by two processes at once.

Each takeover of a lease is noted, and on PostgreSQL each write to a shop's rows by a process that
does not hold the lease of the shop, at the moment of the write. The notes are part of the
transactions that they are about, so those that were rolled back do not count.
"""

from sqlalchemy import Engine, text

WRITTEN_TABLES = ("page", "shop_offer", "match", "finding", "stored_rules", "run")

_POSTGRESQL = (
    """CREATE SCHEMA witness""",
    """CREATE TABLE witness.takeover (name text, token bigint, at timestamp, was_held boolean,
    former text, holder text)""",
    """CREATE TABLE witness.foreign_write (at timestamptz, tab text, label text, token bigint)""",
    """CREATE FUNCTION witness.note_takeover() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witness.takeover VALUES (NEW.name, NEW.token, NEW.acquired_at,
      coalesce(OLD.expires_at > NEW.acquired_at, false) AND OLD.lock_file <> NEW.lock_file,
      OLD.host || ':' || OLD.process_id, NEW.host || ':' || NEW.process_id);
    RETURN NULL; END $$""",
    """CREATE TRIGGER witness AFTER UPDATE ON lease FOR EACH ROW
    WHEN (OLD.token <> NEW.token AND NEW.expires_at IS NOT NULL AND substr(NEW.name, 1, 5) = 'shop-')
    EXECUTE FUNCTION witness.note_takeover()""",
    """CREATE FUNCTION witness.note_write() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE label text := current_setting('application_name'); held bigint; BEGIN
    SELECT token INTO held FROM lease WHERE name = split_part(label, ' ', 2);
    IF substr(label, 1, 11) <> 'scout shop-' OR held::text <> split_part(label, ' ', 3) THEN
      INSERT INTO witness.foreign_write VALUES (clock_timestamp(), TG_TABLE_NAME, label, held);
    END IF; RETURN NULL; END $$""",
    *(
        f"""CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON "{table}"
        FOR EACH STATEMENT EXECUTE FUNCTION witness.note_write()"""
        for table in WRITTEN_TABLES
    ),
)
_SQLITE = (
    """CREATE TABLE witness_takeover (name, token, at, was_held, former, holder)""",
    """CREATE TRIGGER witness AFTER UPDATE ON lease
    WHEN OLD.token <> NEW.token AND NEW.expires_at IS NOT NULL AND substr(NEW.name, 1, 5) = 'shop-' BEGIN
    INSERT INTO witness_takeover VALUES (NEW.name, NEW.token, NEW.acquired_at,
      coalesce(OLD.expires_at > NEW.acquired_at, 0) AND OLD.lock_file <> NEW.lock_file,
      OLD.host || ':' || OLD.process_id, NEW.host || ':' || NEW.process_id); END""",
)


def install(engine: Engine) -> None:
    """Create the triggers in a database."""
    statements = _POSTGRESQL if engine.dialect.name == "postgresql" else _SQLITE
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def find_violations(engine: Engine) -> list[str]:
    """Describe each case in which two processes ran a shop at the same time."""
    is_postgresql = engine.dialect.name == "postgresql"
    takeovers = "witness.takeover" if is_postgresql else "witness_takeover"
    violations = []
    with engine.connect() as connection:
        for row in connection.execute(text(f"SELECT * FROM {takeovers} WHERE was_held")):
            violations.append(
                f"{row.name} was taken by {row.holder} at {row.at} while {row.former} held it"
            )
        if not is_postgresql:
            return violations
        for row in connection.execute(text("SELECT * FROM witness.foreign_write ORDER BY at")):
            violations.append(
                f"a write to {row.tab} at {row.at} by {row.label!r}, when {row.token} held the lease"
            )
    return violations


def count_takeovers(engine: Engine) -> int:
    """Count the holders of shops' leases."""
    takeovers = "witness.takeover" if engine.dialect.name == "postgresql" else "witness_takeover"
    with engine.connect() as connection:
        return connection.execute(text(f"SELECT count(*) FROM {takeovers}")).scalar_one()
