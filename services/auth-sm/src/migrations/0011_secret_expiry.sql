-- From this moment on machines do not have the secret; null for never.
ALTER TABLE secrets ADD COLUMN expires_at timestamptz;
