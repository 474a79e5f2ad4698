-- Counts the secrets of each organization, and their ciphertext as it is stored, in every statement that changes them
-- (docs/adr/0018).
CREATE FUNCTION secret_bytes(encrypted_payload text, wrapped_dek text, title_encrypted text, fields jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(encrypted_payload)::bigint + octet_length(wrapped_dek) + octet_length(title_encrypted)
    + octet_length(fields::text)
$$;

CREATE FUNCTION count_secrets() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE change record;
BEGIN
  CASE TG_OP
    WHEN 'INSERT' THEN
      FOR change IN
        SELECT org_id, count(*) AS items,
          sum(secret_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields))::bigint AS bytes
        FROM added GROUP BY org_id ORDER BY org_id
      LOOP
        PERFORM add_usage(change.org_id, 'secrets', change.items, change.bytes, quota('items'), quota('bytes'));
      END LOOP;
    WHEN 'UPDATE' THEN
      FOR change IN
        SELECT org_id, sum(bytes)::bigint AS bytes FROM (
          SELECT org_id, secret_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields) AS bytes FROM added
          UNION ALL
          SELECT org_id, -secret_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields) FROM removed
        ) AS sizes GROUP BY org_id ORDER BY org_id
      LOOP
        PERFORM add_usage(change.org_id, 'secrets', 0, change.bytes, quota('items'), quota('bytes'));
      END LOOP;
    ELSE
      FOR change IN
        SELECT org_id, count(*) AS items,
          sum(secret_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields))::bigint AS bytes
        FROM removed GROUP BY org_id ORDER BY org_id
      LOOP
        PERFORM add_usage(change.org_id, 'secrets', -change.items, -change.bytes, NULL, NULL);
      END LOOP;
  END CASE;
  RETURN NULL;
END $$;

CREATE TRIGGER secrets_added AFTER INSERT ON secrets
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_secrets();
CREATE TRIGGER secrets_changed AFTER UPDATE ON secrets
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_secrets();
CREATE TRIGGER secrets_removed AFTER DELETE ON secrets
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_secrets();

-- The present usage. Nobody writes secrets between this count and the commit: the triggers have locked the table.
INSERT INTO usage (owner, kind, share, items, bytes)
SELECT org_id, 'secrets', n, share_of(items, n), share_of(bytes, n)
FROM (
  SELECT org_id, count(*) AS items,
    sum(secret_bytes(encrypted_payload, wrapped_dek, title_encrypted, fields))::bigint AS bytes
  FROM secrets GROUP BY org_id
) AS present CROSS JOIN generate_series(0, 7) AS n;
