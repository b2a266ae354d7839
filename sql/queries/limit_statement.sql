-- How long each statement of this transaction may run; the connection forgets it with the transaction.
select set_config('statement_timeout', (%(milliseconds)s::bigint)::text, true) as statement_timeout
