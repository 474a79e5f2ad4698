-- Signed histories of shared vaults (docs/histories.md). The state after the newest entry is stored, so that the next entry
-- is checked without the ones before it.
CREATE TABLE histories (
  vault_id uuid PRIMARY KEY REFERENCES vaults (id) ON DELETE CASCADE,
  state jsonb NOT NULL
);
-- Finds the vaults in whose history a person is a holder.
CREATE INDEX histories_holders ON histories USING gin ((state -> 'holders') jsonb_path_ops);

CREATE TABLE history_entries (
  vault_id uuid NOT NULL REFERENCES histories (vault_id) ON DELETE CASCADE,
  seq integer NOT NULL,
  -- A compact JWS, as it was sent.
  entry text NOT NULL,
  PRIMARY KEY (vault_id, seq)
);

-- The number of the newest entry, beside what lists read anyway; null without a history.
ALTER TABLE vaults ADD COLUMN history_seq integer;

-- Null after a rotation that could not seal the key for the member, until a manager seals it.
ALTER TABLE vault_members ALTER COLUMN encrypted_key DROP NOT NULL;

-- What a person's devices share of the history that they trust, sealed under the person's user key.
CREATE TABLE vault_pins (
  vault_id uuid NOT NULL REFERENCES vaults (id) ON DELETE CASCADE,
  user_id uuid NOT NULL,
  version integer NOT NULL,
  sealed text NOT NULL,
  PRIMARY KEY (vault_id, user_id)
);

-- Records that were sealed with the next key of their vault, for an hour at most. `sealed_at` is the updated_at of the
-- record that was sealed: one that has changed since cannot be rotated with it.
CREATE TABLE staged_records (
  vault_id uuid NOT NULL REFERENCES vaults (id) ON DELETE CASCADE,
  rotation_id uuid NOT NULL,
  user_id uuid NOT NULL,
  id uuid NOT NULL,
  sealed_at timestamptz NOT NULL,
  encrypted_data text NOT NULL,
  staged_at timestamptz NOT NULL,
  PRIMARY KEY (vault_id, rotation_id, id)
);
ALTER TABLE staged_records ALTER COLUMN encrypted_data SET STORAGE EXTERNAL;
CREATE INDEX staged_records_age ON staged_records (staged_at);
