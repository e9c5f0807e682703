"""The queue of jobs for workers, which Procrastinate keeps in the PostgreSQL database of the store."""
