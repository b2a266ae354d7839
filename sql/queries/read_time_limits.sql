-- How long a statement of this transaction may wait and run, so that it can be put back.
select current_setting('lock_timeout') as lock_timeout, current_setting('statement_timeout') as statement_timeout
