-- What a device that has logged in shows when it begins the next login (docs/adr/0012): the SHA-256 of a random text that
-- only this device has. It belongs to one account and to the session that it came with.
CREATE TABLE device_credentials (
  hash bytea PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  session_id uuid NOT NULL,
  made_at timestamptz NOT NULL
);
CREATE INDEX device_credentials_user ON device_credentials (user_id, made_at);
CREATE INDEX device_credentials_session ON device_credentials (session_id);
CREATE INDEX device_credentials_age ON device_credentials (made_at);

-- The credential that began the login, where it is the account's own: the login replaces it.
ALTER TABLE login_starts ADD COLUMN device_hash bytea;
