"""Every front door: HTTP, and the command line. What a job does is none of its business."""

from crontick.handler.wrap import wrap

__all__ = ["wrap"]
