-- Secrets that were encrypted with the next key of their folder, for an hour at most (docs/adr/0021). `version` is that of the
-- secret that was encrypted: one that has changed since cannot be rotated with it. Without a payload the stored payload and its
-- DEK stay.
CREATE TABLE staged_secrets (
  folder_id uuid NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  rotation_id uuid NOT NULL,
  uid text NOT NULL,
  version integer NOT NULL,
  encrypted_payload text,
  wrapped_dek text NOT NULL,
  title_encrypted text NOT NULL,
  -- JSON, {name: base64}.
  fields text NOT NULL,
  staged_at timestamptz NOT NULL,
  PRIMARY KEY (folder_id, user_id, rotation_id, uid)
);
ALTER TABLE staged_secrets ALTER COLUMN encrypted_payload SET STORAGE EXTERNAL;
ALTER TABLE staged_secrets ALTER COLUMN fields SET STORAGE EXTERNAL;
CREATE INDEX staged_secrets_age ON staged_secrets (staged_at);
CREATE INDEX staged_secrets_user ON staged_secrets (user_id);

-- What a person has staged is bounded on its own (docs/adr/0018): counted as secrets too, half of the quota would stay unused.
CREATE FUNCTION staged_bytes(encrypted_payload text, wrapped_dek text, title_encrypted text, fields text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(octet_length(encrypted_payload), 0)::bigint + octet_length(wrapped_dek) + octet_length(title_encrypted)
    + octet_length(fields)
$$;

CREATE FUNCTION count_staged() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE change record;
BEGIN
  CASE TG_OP
    WHEN 'INSERT' THEN
      FOR change IN
        SELECT user_id, sum(staged_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields))::bigint AS bytes
        FROM added GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'staged', 0, change.bytes, NULL, quota('bytes'));
      END LOOP;
    WHEN 'UPDATE' THEN
      FOR change IN
        SELECT user_id, sum(bytes)::bigint AS bytes FROM (
          SELECT user_id, staged_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields) AS bytes FROM added
          UNION ALL
          SELECT user_id, -staged_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields) FROM removed
        ) AS sizes GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'staged', 0, change.bytes, NULL, quota('bytes'));
      END LOOP;
    ELSE
      FOR change IN
        SELECT user_id, sum(staged_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields))::bigint AS bytes
        FROM removed GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'staged', 0, -change.bytes, NULL, NULL);
      END LOOP;
  END CASE;
  RETURN NULL;
END $$;

CREATE TRIGGER staged_added AFTER INSERT ON staged_secrets
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_staged();
CREATE TRIGGER staged_changed AFTER UPDATE ON staged_secrets
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_staged();
CREATE TRIGGER staged_removed AFTER DELETE ON staged_secrets
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_staged();
