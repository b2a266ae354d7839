"""A shop that takes orders, mails receipts and cancels what is not paid: FastAPI and SQLAlchemy, with crontick."""
