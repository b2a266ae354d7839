-- Hear what crontick.tell_watchers notifies. It belongs to the session: through a pooler in transaction mode it is lost.
listen crontick
