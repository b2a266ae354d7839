"""What a tick tells to a collector of OpenTelemetry's, where one is wanted; imported by no other tick."""
