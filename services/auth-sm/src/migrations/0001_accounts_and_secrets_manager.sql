-- People, organizations and the Secrets Manager. Names that are unique without regard to case, and titles that are
-- searched, are kept a second time in a folded form made by the service, so that no database's locale decides.

CREATE TABLE opaque_setups (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  setup text NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE signing_keys (
  kid text PRIMARY KEY,
  private_jwk jsonb NOT NULL,
  public_jwk jsonb NOT NULL,
  created_at timestamptz NOT NULL
);

-- Keys that only the service itself uses, by name.
CREATE TABLE server_keys (
  name text PRIMARY KEY,
  key bytea NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL CONSTRAINT users_email_key UNIQUE,
  name text NOT NULL,
  opaque_setup_id integer NOT NULL REFERENCES opaque_setups (id),
  registration_record text NOT NULL,
  public_key text NOT NULL,
  encrypted_user_key text NOT NULL,
  encrypted_private_key text NOT NULL,
  -- Changes with the password: what was begun with the one before is not finished with it.
  password_version integer NOT NULL DEFAULT 1,
  recovery_proof_hash text,
  recovery_encrypted_user_key text,
  created_at timestamptz NOT NULL
);
CREATE INDEX users_opaque_setup ON users (opaque_setup_id);

-- Refresh tokens are known by the hash of the present one; the older ones of a session prove themselves (refresh-token.ts).
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  device_id text NOT NULL,
  device_name text NOT NULL,
  device_type text NOT NULL,
  ip inet,
  generation integer NOT NULL,
  refresh_hash bytea NOT NULL,
  rotated_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  revoked_reason text
);
CREATE INDEX sessions_user ON sessions (user_id);
-- What Redis is told when it is back.
CREATE INDEX sessions_revoked ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;

-- Where a person has logged in or renewed a session: an IPv4 address, or the /64 of an IPv6 one. The latest few of each.
CREATE TABLE known_places (
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  place text NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, place)
);

-- One row per started login or recovery, for 60 s. `user_id` is null for an e-mail that nobody has: such a start is
-- answered alike, and takes as long, which is why the column refers to no table: a check would be made for those only who
-- exist. A wrong finish marks the row and does no more, whoever it is about; what is expired or refused becomes an audit
-- record a moment later. Address, agent and request are those of the latest call.
CREATE TABLE login_starts (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('login', 'recovery')),
  -- The account's row in login_counts.
  account bytea NOT NULL,
  user_id uuid,
  password_version integer,
  -- Of a recovery: the setup by which its new record is made.
  opaque_setup_id integer REFERENCES opaque_setups (id),
  server_state text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  -- The password, or the recovery key, was right; the second factor is what is missing.
  proven boolean NOT NULL DEFAULT false,
  ip inet NOT NULL,
  user_agent text,
  request_id text NOT NULL,
  method text NOT NULL,
  route text NOT NULL,
  status integer NOT NULL,
  expires_at timestamptz NOT NULL,
  refused_at timestamptz
);
CREATE INDEX login_starts_expiry ON login_starts (expires_at);

-- Logins that were begun and have not succeeded, whether anybody has the account or not: by a MAC of the e-mail, and
-- besides by the place where they began; '' is for all places together, `recovery` for recoveries.
CREATE TABLE login_counts (
  account bytea NOT NULL,
  place text NOT NULL,
  -- The newest, at most ten.
  started_at timestamptz[] NOT NULL,
  delays integer NOT NULL,
  delayed_since timestamptz,
  delayed_until timestamptz,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account, place)
);
CREATE INDEX login_counts_expiry ON login_counts (expires_at);

-- By which setup a registration or a change of password was begun, by a MAC of who did. Several only around a rotation.
CREATE TABLE registration_starts (
  starter bytea NOT NULL,
  opaque_setup_id integer NOT NULL REFERENCES opaque_setups (id),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (starter, opaque_setup_id)
);
CREATE INDEX registration_starts_expiry ON registration_starts (expires_at);

-- Second factors by time (RFC 6238). Secrets are sealed under a key of server_keys.
CREATE TABLE totp (
  user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- Null until the first one is verified.
  sealed_secret bytea,
  last_step integer NOT NULL DEFAULT 0,
  -- What is to be verified by the session that asked for it.
  pending_secret bytea,
  pending_session_id uuid,
  pending_attempts integer NOT NULL DEFAULT 0,
  pending_until timestamptz
);

CREATE TABLE totp_recovery_codes (
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash bytea NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE orgs (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  plan text NOT NULL CHECK (plan IN ('free', 'team', 'business', 'enterprise')),
  created_at timestamptz NOT NULL
);

CREATE TABLE memberships (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'auditor', 'member')),
  status text NOT NULL CHECK (status IN ('active', 'suspended')),
  joined_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, user_id)
);
CREATE INDEX memberships_user ON memberships (user_id, joined_at, org_id);

-- Open invitations. One that is accepted, withdrawn or replaced is gone; its token is known by its hash alone.
CREATE TABLE invites (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'auditor', 'member')),
  token_hash bytea NOT NULL CONSTRAINT invites_token_key UNIQUE,
  invited_by uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT invites_email_key UNIQUE (org_id, email)
);

CREATE TABLE folders (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  name text NOT NULL,
  name_folded text NOT NULL,
  key_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT folders_name_key UNIQUE (org_id, name_folded)
);

CREATE TABLE folder_members (
  folder_id uuid NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  permission text NOT NULL CHECK (permission IN ('read', 'write', 'manage')),
  -- Null when the key was rotated while the person could not act, until somebody seals it for the person.
  encrypted_key text,
  encrypted_key_alg text CHECK (encrypted_key_alg IN ('box-user', 'jwe')),
  added_at timestamptz NOT NULL,
  PRIMARY KEY (folder_id, user_id),
  CHECK ((encrypted_key IS NULL) = (encrypted_key_alg IS NULL))
);
CREATE INDEX folder_members_user ON folder_members (user_id);

CREATE TABLE applications (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  name text NOT NULL,
  name_folded text NOT NULL,
  description text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT applications_name_key UNIQUE (org_id, name_folded)
);

CREATE TABLE clients (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  -- Null once the application is deleted; its clients stay, revoked, for the audit.
  application_id uuid REFERENCES applications (id) ON DELETE SET NULL,
  name text NOT NULL,
  public_key text NOT NULL,
  allowed_cidrs cidr[],
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  last_ip inet,
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX clients_application ON clients (application_id);

CREATE TABLE client_folders (
  client_id uuid NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  folder_id uuid NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
  permission text NOT NULL CHECK (permission IN ('read', 'write')),
  -- Null until somebody seals the folder's key for this client.
  encrypted_key text,
  encrypted_key_alg text CHECK (encrypted_key_alg IN ('box-token', 'jwe')),
  added_at timestamptz NOT NULL,
  PRIMARY KEY (client_id, folder_id),
  CHECK ((encrypted_key IS NULL) = (encrypted_key_alg IS NULL))
);
CREATE INDEX client_folders_folder ON client_folders (folder_id);

CREATE TABLE access_tokens (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  application_id uuid NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
  name text NOT NULL,
  token_hash bytea NOT NULL CONSTRAINT access_tokens_hash_key UNIQUE,
  allowed_cidrs cidr[],
  created_by uuid REFERENCES users (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  client_expires_at timestamptz,
  used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX access_tokens_application ON access_tokens (application_id);

CREATE TABLE access_token_folders (
  token_id uuid NOT NULL REFERENCES access_tokens (id) ON DELETE CASCADE,
  folder_id uuid NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
  permission text NOT NULL CHECK (permission IN ('read', 'write')),
  encrypted_folder_key text,
  PRIMARY KEY (token_id, folder_id)
);
CREATE INDEX access_token_folders_folder ON access_token_folders (folder_id);

CREATE TABLE secrets (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  uid text NOT NULL,
  folder_id uuid NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
  record_type text NOT NULL,
  -- Null where the client chose not to index a title; such a secret is found by its uid only.
  title text,
  title_folded text,
  title_encrypted text NOT NULL,
  encrypted_payload text NOT NULL,
  wrapped_dek text NOT NULL,
  -- {name: base64}; the names a second time, so that a read need not unpack the values.
  fields jsonb NOT NULL,
  field_names text[] NOT NULL,
  key_version integer NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT secrets_uid_key PRIMARY KEY (org_id, uid)
);
-- Ciphertext does not compress; trying costs time on every write.
ALTER TABLE secrets ALTER COLUMN encrypted_payload SET STORAGE EXTERNAL;
ALTER TABLE secrets ALTER COLUMN fields SET STORAGE EXTERNAL;
-- Answers a conditional list from the index alone.
CREATE INDEX secrets_folder ON secrets (folder_id, created_at, uid) INCLUDE (version, updated_at);
CREATE INDEX secrets_title ON secrets (folder_id, title);

-- Substring search by trigrams where the extension may be created; without it the search is right, but reads every title.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'pg_trgm is not available: search over many titles will be slower';
END
$$;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    EXECUTE (SELECT format('CREATE INDEX secrets_title_search ON secrets USING gin (title_folded %I.gin_trgm_ops)', n.nspname)
             FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm');
  END IF;
END
$$;
