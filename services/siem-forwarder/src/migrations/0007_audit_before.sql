-- The existing table becomes the partition of every time before the first month that has a partition of its own. In a
-- new installation that is the present month. Otherwise it is a month in which nothing is stored yet, a week or more from
-- now: until the last of these migrations, a later record is refused, and its sender tries again.
DO $$
DECLARE
  newest timestamptz := (
    SELECT max(last_hour.hour) FROM audit_chains CROSS JOIN LATERAL (
      SELECT hour FROM audit_hours WHERE chain_id = audit_chains.id ORDER BY hour DESC LIMIT 1
    ) AS last_hour
  );
  present timestamptz := date_trunc('month', now(), 'UTC');
  past_all timestamptz := date_trunc('month', greatest(now() + interval '7 days', newest), 'UTC');
  before timestamptz := CASE
    WHEN newest IS NULL THEN present ELSE (past_all AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'
  END;
BEGIN
  EXECUTE format('ALTER TABLE audit_records ADD CONSTRAINT audit_records_before CHECK (time < %L) NOT VALID', before);
  EXECUTE format(
    'CREATE FUNCTION audit_before() RETURNS timestamptz LANGUAGE sql IMMUTABLE AS %L',
    format('SELECT %L::timestamptz', before)
  );
END
$$;
