-- Counts the expired secrets of a folder, for the entity tag of its list. A migration of its own:
-- the lock of a new column would make reads wait until the index is built.
CREATE INDEX secrets_expiry ON secrets (folder_id, expires_at) WHERE expires_at IS NOT NULL;
