-- The records, one partition for each month of their times (UTC), and one for all times before. Changes only the catalog.
ALTER TABLE audit_records RENAME TO audit_records_before;
ALTER TABLE audit_records_before DROP CONSTRAINT audit_records_pkey, DROP CONSTRAINT audit_records_id_key;
ALTER TABLE audit_records_before ADD CONSTRAINT audit_records_before_pkey PRIMARY KEY USING INDEX audit_records_place;
ALTER INDEX audit_records_id_time RENAME TO audit_records_before_id;
ALTER INDEX audit_records_groups RENAME TO audit_records_before_groups;
ALTER INDEX audit_records_actor_groups RENAME TO audit_records_before_actor_groups;

-- A record that is sent again has the same time, so that it is found in the same partition. A place is unique in its
-- chain because its writers lock the chain.
CREATE TABLE audit_records (
  chain_id uuid NOT NULL,
  seq bigint NOT NULL,
  id uuid NOT NULL,
  time timestamptz NOT NULL,
  action text NOT NULL,
  outcome text NOT NULL,
  actor_id text,
  record json NOT NULL,
  PRIMARY KEY (chain_id, seq, time)
) PARTITION BY RANGE (time);
CREATE UNIQUE INDEX audit_records_id ON audit_records (id, time);
CREATE INDEX audit_records_groups ON audit_records (chain_id, action, outcome, seq);
CREATE INDEX audit_records_actor_groups ON audit_records (chain_id, actor_id, action, outcome, seq);

DO $$
BEGIN
  EXECUTE format('ALTER TABLE audit_records ATTACH PARTITION audit_records_before FOR VALUES FROM (MINVALUE) TO (%L)', audit_before());
END
$$;
ALTER TABLE audit_records_before DROP CONSTRAINT audit_records_before;

-- For a time that has no partition yet.
CREATE TABLE audit_records_default PARTITION OF audit_records DEFAULT;

-- The end of the last month that has a partition.
CREATE FUNCTION audit_partitions_end() RETURNS timestamptz LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT max(substring(pg_get_expr(c.relpartbound, c.oid) FROM $re$ TO \('([^']+)'\)$re$)::timestamptz)
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'audit_records'::regclass
$$;

-- Makes the partition of the next month without one, if it begins at `until` or before; returns whether it did. Records
-- and pages of other partitions do not wait. It gives up when a long read holds the default partition, a backup
-- for example.
CREATE FUNCTION add_audit_partition(until timestamptz) RETURNS boolean LANGUAGE plpgsql
SET search_path FROM CURRENT SET timezone = 'UTC' SET lock_timeout = '10s' AS $$
DECLARE
  from_time timestamptz;
  to_time timestamptz;
  name text;
BEGIN
  -- One at a time. Waits for no reader or writer.
  LOCK TABLE ONLY audit_records IN SHARE UPDATE EXCLUSIVE MODE;
  from_time := audit_partitions_end();
  IF from_time > until THEN
    RETURN false;
  END IF;
  to_time := from_time + interval '1 month';
  name := to_char(from_time, '"audit_records_"YYYY_MM');
  EXECUTE format('CREATE TABLE %I (LIKE audit_records INCLUDING ALL)', name);
  PERFORM set_config('lock_timeout', '1s', true);
  LOCK TABLE audit_records_default IN ACCESS EXCLUSIVE MODE;
  EXECUTE format(
    'WITH moved AS (DELETE FROM audit_records_default WHERE time >= %L AND time < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', from_time, to_time, name);
  EXECUTE format('ALTER TABLE audit_records ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, from_time, to_time);
  RETURN true;
END
$$;

DO $$
BEGIN
  WHILE add_audit_partition(now() + interval '3 months') LOOP
  END LOOP;
END
$$;
