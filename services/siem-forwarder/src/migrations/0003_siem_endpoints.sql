-- SIEM endpoints: where an organization's audit records are delivered, and how far each delivery has come.

-- `position` is the `seq` of the last record of the organization's chain that is settled for this endpoint: delivered,
-- parked or given up. `credentials` are sealed under a key of COFFER_SIEM_KEYS. Half-empty pages keep the updates of
-- the position in place.
CREATE TABLE siem_endpoints (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  name text,
  format text NOT NULL,
  url text NOT NULL,
  credentials text NOT NULL,
  enabled boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  position bigint NOT NULL,
  -- The last delivery, as the API shows it: all null before the first.
  last_status integer,
  last_at timestamptz,
  last_error text,
  -- Failures since the last success: when they began, how many, when the next attempt is due.
  failing_since timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  -- Parked records that no audit record tells of yet, and when the last such record was written.
  parked bigint NOT NULL DEFAULT 0,
  parked_reported_at timestamptz,
  -- The replica that delivers to this endpoint, until when.
  lease_holder uuid,
  lease_until timestamptz
) WITH (fillfactor = 50);
CREATE INDEX siem_endpoints_org ON siem_endpoints (org_id, id);

-- The replicas that deliver, each with its last sign of life: so that each takes its share of the endpoints.
CREATE TABLE siem_replicas (
  id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
