-- Signed histories of organizations and folders (docs/histories.md). The state after the newest entry is stored, so that
-- the next entry is checked without the ones before it.
CREATE TABLE histories (
  -- `org:<id>` or `folder:<id>`, as entries name it.
  res text PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  -- Null in the history of the organization itself.
  folder_id uuid UNIQUE REFERENCES folders (id) ON DELETE CASCADE,
  state jsonb NOT NULL
);
CREATE INDEX histories_org ON histories (org_id);

CREATE TABLE history_entries (
  res text NOT NULL REFERENCES histories (res) ON DELETE CASCADE,
  seq integer NOT NULL,
  -- A compact JWS, as it was sent.
  entry text NOT NULL,
  PRIMARY KEY (res, seq)
);

-- The number of the newest entry beside what lists read anyway; null without a history.
ALTER TABLE orgs ADD COLUMN history_seq integer;
ALTER TABLE folders ADD COLUMN history_seq integer;

-- Whether the client made the token: only then is its hash the tag of an invitation in a history.
ALTER TABLE invites ADD COLUMN made_by_client boolean NOT NULL DEFAULT false;
ALTER TABLE access_tokens ADD COLUMN made_by_client boolean NOT NULL DEFAULT false;

-- SHA-256 of the one-time token that the client spent: it may join with the invitations of that token alone.
ALTER TABLE clients ADD COLUMN token_hash bytea;

-- What a person's devices share of the histories that they trust, sealed under the person's user key.
CREATE TABLE keyrings (
  user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  version integer NOT NULL,
  sealed text NOT NULL
);
ALTER TABLE keyrings ALTER COLUMN sealed SET STORAGE EXTERNAL;
