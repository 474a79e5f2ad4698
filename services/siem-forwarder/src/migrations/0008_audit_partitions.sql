-- Between which places of a chain the records of one partition are. A page of a list, and a delivery, read only the
-- partitions that can have their records. A month whose partition does not exist has its row too.
CREATE TABLE audit_partitions (
  chain_id uuid NOT NULL,
  from_time timestamptz NOT NULL,
  to_time timestamptz NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  PRIMARY KEY (chain_id, from_time)
) WITH (fillfactor = 50);

-- The bounds of the partition that has a time.
CREATE FUNCTION audit_partition_start(at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN at < audit_before() THEN '-infinity' ELSE date_trunc('month', at, 'UTC') END
$$;
CREATE FUNCTION audit_partition_end(at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN at < audit_before() THEN audit_before()
    WHEN at >= '9999-12-01T00:00:00Z' THEN 'infinity'
    ELSE (date_trunc('month', at, 'UTC') AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'
  END
$$;

-- By a trigger, because the former version of the service appends too while an upgrade lasts.
CREATE FUNCTION widen_audit_partitions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO audit_partitions (chain_id, from_time, to_time, first_seq, last_seq)
  SELECT chain_id, audit_partition_start(min(hour)), audit_partition_end(min(hour)), min(first_seq), max(last_seq)
  FROM changed GROUP BY chain_id, audit_partition_start(hour) ORDER BY 1, 2
  ON CONFLICT (chain_id, from_time) DO UPDATE SET
    first_seq = least(audit_partitions.first_seq, excluded.first_seq),
    last_seq = greatest(audit_partitions.last_seq, excluded.last_seq);
  RETURN NULL;
END
$$;
CREATE TRIGGER audit_hours_inserted AFTER INSERT ON audit_hours REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION widen_audit_partitions();
CREATE TRIGGER audit_hours_updated AFTER UPDATE ON audit_hours REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION widen_audit_partitions();
