-- Up to which id the records of a deleted vault are gone: they go in the order of their ids, and whoever goes on does so
-- behind it. From the first one on it would walk over all that is gone each time, as long as Postgres cannot clean that up.
ALTER TABLE deleted_vaults ADD COLUMN emptied_to uuid;
