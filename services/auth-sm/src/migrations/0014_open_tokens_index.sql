-- without transaction
-- Counts the tokens of an organization that can still be used. Writes go on while it is built.
-- An interrupted run leaves an index that is not valid.
DROP INDEX CONCURRENTLY IF EXISTS access_tokens_open;
CREATE INDEX CONCURRENTLY access_tokens_open ON access_tokens (org_id, expires_at) WHERE used_at IS NULL AND revoked_at IS NULL;
