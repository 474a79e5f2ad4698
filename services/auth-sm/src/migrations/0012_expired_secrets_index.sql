-- without transaction
-- Counts the expired secrets of a folder, for the entity tag of its list. Writes go on while it is built.
-- An interrupted run leaves an index that is not valid.
DROP INDEX CONCURRENTLY IF EXISTS secrets_expiry;
CREATE INDEX CONCURRENTLY secrets_expiry ON secrets (folder_id, expires_at) WHERE expires_at IS NOT NULL;
