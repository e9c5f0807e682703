"""The queue of jobs for workers, kept by Procrastinate in the PostgreSQL database of the store."""
