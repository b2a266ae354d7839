"""A store that takes orders and mails receipts: Django, with crontick in it."""
