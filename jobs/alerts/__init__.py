"""Alerts on their way: imported only by a tick that has one to send."""
