-- Vaults, their members and records, and what it takes to bring a device up to date (docs/adr/0013).
--
-- x: the transaction that a row was last changed by in a way that devices have to hear of (pg_current_xact_id()).
-- Compared with the watermark of a tick it says whether a device may have missed the change; no clock can say that.

-- A copy of what auth-sm knows of memberships, by its version; `removed` ones stay, so that an older version that comes
-- later changes nothing.
CREATE TABLE memberships (
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'auditor', 'member')),
  status text NOT NULL CHECK (status IN ('active', 'suspended', 'removed')),
  name text NOT NULL,
  email text NOT NULL,
  joined_at timestamptz NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (org_id, user_id)
);
CREATE INDEX memberships_user ON memberships (user_id, joined_at, org_id) WHERE status <> 'removed';

-- One row for everybody who has to do with vaults: who changes what somebody sees locks it first.
CREATE TABLE people (
  user_id uuid PRIMARY KEY,
  travelling boolean NOT NULL DEFAULT false,
  travel_changed_at timestamptz
);

-- `org_id` null: a vault of a person without an organization. `access_version` grows whenever it changes who sees the
-- vault or what they may do in it: a writer of records that finds another one than it has judged by writes nothing.
CREATE TABLE vaults (
  id uuid PRIMARY KEY,
  org_id uuid,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('personal', 'shared')),
  safe_for_travel boolean NOT NULL DEFAULT false,
  key_version integer NOT NULL DEFAULT 1,
  access_version bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  x xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX vaults_changed ON vaults (x);

-- Ids of vaults that were deleted: not taken again while a device may still name them.
CREATE TABLE deleted_vaults (
  id uuid PRIMARY KEY,
  deleted_at timestamptz NOT NULL
);
CREATE INDEX deleted_vaults_age ON deleted_vaults (deleted_at);

CREATE TABLE vault_members (
  vault_id uuid NOT NULL REFERENCES vaults (id) ON DELETE CASCADE,
  user_id uuid NOT NULL,
  permission text NOT NULL CHECK (permission IN ('read', 'write', 'manage')),
  encrypted_key text NOT NULL,
  key_version integer NOT NULL,
  added_at timestamptz NOT NULL,
  PRIMARY KEY (vault_id, user_id)
);
CREATE INDEX vault_members_user ON vault_members (user_id);

-- From when to when a person could see a vault: its member, active in its organization, not travelling or the vault
-- safe. The rows without an end are who sees what now. The snapshots tell exactly which records there were when it began
-- and when it ended: both are taken while nobody writes to the vault. Of a person and a vault each beginning and each end
-- is later than the one before it, whatever the clocks do: by these times devices are told the last of them last.
CREATE TABLE sights (
  user_id uuid NOT NULL,
  vault_id uuid NOT NULL,
  org_id uuid,
  began_x xid8 NOT NULL DEFAULT pg_current_xact_id(),
  began_snapshot pg_snapshot NOT NULL,
  began_at timestamptz NOT NULL DEFAULT now(),
  ended_x xid8,
  ended_snapshot pg_snapshot,
  ended_at timestamptz
);
CREATE UNIQUE INDEX sights_present ON sights (user_id, vault_id) WHERE ended_x IS NULL;
CREATE INDEX sights_of_vault ON sights (vault_id, user_id) WHERE ended_x IS NULL;
CREATE INDEX sights_last ON sights (user_id, vault_id, ended_at) WHERE ended_x IS NOT NULL;
CREATE INDEX sights_ended ON sights (user_id, ended_x) WHERE ended_x IS NOT NULL;
CREATE INDEX sights_began_by ON sights (began_x);
CREATE INDEX sights_ended_by ON sights (ended_x) WHERE ended_x IS NOT NULL;

-- No foreign key: whoever writes records holds the vault's row, and its deletion takes them all, so that the key would
-- only take the same lock a second time, for an eighth of what an insert costs.
-- An id is unique in the whole installation: devices may know a record by it alone, and nobody who writes to one vault can
-- displace a record of another there.
-- updated_at is the server_timestamp: strictly increasing for each record, whatever the clock does.
CREATE TABLE records (
  vault_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  encrypted_data text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_x xid8 NOT NULL DEFAULT pg_current_xact_id(),
  x xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (vault_id, id)
);
-- Ciphertext does not compress.
ALTER TABLE records ALTER COLUMN encrypted_data SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX records_id ON records (id);
CREATE INDEX records_changed ON records (vault_id, x, id);
CREATE INDEX records_changed_anywhere ON records (x);

-- Records that were deleted, for 90 days; also those of deleted vaults, which is why no vault is referred to.
CREATE TABLE tombstones (
  vault_id uuid NOT NULL,
  id uuid NOT NULL,
  created_x xid8 NOT NULL,
  deleted_at timestamptz NOT NULL,
  x xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (vault_id, id)
);
CREATE INDEX tombstones_id ON tombstones (id);
CREATE INDEX tombstones_deleted ON tombstones (vault_id, x, id);
CREATE INDEX tombstones_deleted_anywhere ON tombstones (x, vault_id, id);
CREATE INDEX tombstones_age ON tombstones (deleted_at);

-- A tick's label is a `server_time`; x is the oldest transaction that was still under way before it: all older ones are
-- in whatever was read after.
CREATE TABLE sync_ticks (
  label timestamptz PRIMARY KEY,
  x xid8 NOT NULL
);

-- Where an answer that a client took in pages continues, by the `server_time` of the page before, for a day. The row stays
-- as long as ticks do: its label is never taken for that of a tick.
CREATE TABLE sync_pages (
  label timestamptz PRIMARY KEY,
  user_id uuid NOT NULL,
  from_x xid8 NOT NULL,
  to_label timestamptz NOT NULL,
  position json NOT NULL,
  reset boolean NOT NULL
);

-- Which server's transaction ids the x of this schema belong to: on another one, or on one that was set back, they start
-- again. `written_x` is the transaction that wrote this very row, as its xmin says too unless it is a copy.
-- Also the last label that was given, by a tick or a page, and the last tick's x and time.
CREATE TABLE sync_epoch (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  system_identifier bigint NOT NULL,
  timeline integer NOT NULL,
  written_x xid8 NOT NULL DEFAULT pg_current_xact_id(),
  last_label timestamptz NOT NULL,
  last_x xid8 NOT NULL DEFAULT '3',
  ticked_at timestamptz NOT NULL DEFAULT '-infinity'
);
