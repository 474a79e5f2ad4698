-- The connection on which the client began this answer in pages. Its pushes bring what changes between two pages; a client
-- that continues on another connection has missed them. Null: written by a version that did not know it.
ALTER TABLE sync_pages ADD COLUMN connection_id uuid;
