-- without transaction
-- The unique indexes of a partition: they need its key, the time. Writes go on while they are built.
-- An interrupted run leaves an index that is not valid.
DROP INDEX CONCURRENTLY IF EXISTS audit_records_place;
CREATE UNIQUE INDEX CONCURRENTLY audit_records_place ON audit_records (chain_id, seq, time);
DROP INDEX CONCURRENTLY IF EXISTS audit_records_id_time;
CREATE UNIQUE INDEX CONCURRENTLY audit_records_id_time ON audit_records (id, time);
