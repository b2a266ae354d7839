-- The first in line of each called group goes into the due index.
select crontick.place() is null
