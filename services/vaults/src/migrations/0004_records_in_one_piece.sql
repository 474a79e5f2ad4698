-- A record of up to 8 KB stays in its row: taken out, as Postgres does from 2 KB on, it is two rows and two entries of an
-- index more to write, and to look up for whoever syncs. Larger ones are taken out as before.
ALTER TABLE records SET (toast_tuple_target = 8160);
