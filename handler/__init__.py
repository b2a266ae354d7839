"""Every front door: HTTP, and the command line. What a job does is none of its business."""
