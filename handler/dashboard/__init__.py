"""The operator's page: ``/dashboard``, made on the server, behind the admin secret."""
