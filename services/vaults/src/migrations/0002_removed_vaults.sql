-- A vault is deleted at once, and its records after that, in batches (docs/adr/0014): `emptied` says when none is left. Its
-- id is remembered until then.
ALTER TABLE deleted_vaults ADD COLUMN emptied boolean NOT NULL DEFAULT true;
CREATE INDEX deleted_vaults_full ON deleted_vaults (deleted_at) WHERE NOT emptied;

-- The id of a record that was deleted is not taken while that is remembered. Who makes a record looks for it before; but
-- its statement sees what was committed when it began, and the index of the ids lets it wait for whoever is just deleting
-- the record. Only a look afterwards, with a snapshot of its own, is sure to see what that one leaves behind.
CREATE FUNCTION refuse_deleted_id() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT FROM vaults.tombstones WHERE id = NEW.id) THEN
    RAISE unique_violation USING MESSAGE = 'a record of this id was deleted', CONSTRAINT = 'records_not_deleted';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER records_not_deleted AFTER INSERT ON records FOR EACH ROW EXECUTE FUNCTION refuse_deleted_id();

-- Lists say how many records a vault has: cheap from the index alone, as long as most pages are known to be visible to all.
ALTER TABLE records SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
