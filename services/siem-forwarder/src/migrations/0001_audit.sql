-- The audit: one hash chain for each organization, so that a record that is changed, removed or moved shows.

-- The end of each chain. `id` is that of the organization, or of a person who belongs to none. Locked by whoever
-- appends; half-empty pages keep its updates in place.
CREATE TABLE audit_chains (
  id uuid PRIMARY KEY,
  seq bigint NOT NULL,
  hash text NOT NULL
) WITH (fillfactor = 50);

-- `record` is the whole record as text, `hash` included; the other columns repeat what lists select by. It refers to its
-- chain without a foreign key, whose check per row would cost as much as the row.
CREATE TABLE audit_records (
  chain_id uuid NOT NULL,
  seq bigint NOT NULL,
  id uuid NOT NULL CONSTRAINT audit_records_id_key UNIQUE,
  time timestamptz NOT NULL,
  action text NOT NULL,
  outcome text NOT NULL,
  actor_id text,
  record json NOT NULL,
  PRIMARY KEY (chain_id, seq)
);
CREATE INDEX audit_records_action ON audit_records (chain_id, action, seq);
CREATE INDEX audit_records_actor ON audit_records (chain_id, actor_id, seq);
CREATE INDEX audit_records_trouble ON audit_records (chain_id, outcome, seq) WHERE outcome <> 'success';

-- Between which places of a chain the records of an hour are. Records arrive a little out of the order of their times,
-- and after an outage much, so a place says little about a time; with this a list of one day reads that day alone.
CREATE TABLE audit_hours (
  chain_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  PRIMARY KEY (chain_id, hour)
) WITH (fillfactor = 50);
