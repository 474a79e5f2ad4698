-- Counts the records of each person and their ciphertext as it is stored, in every statement that changes them
-- (docs/adr/0018). One person pays for the records of a vault: at first its creator. Of a vault that was deleted the row stays
-- until its last record is gone.
CREATE TABLE vault_payers (
  vault_id uuid PRIMARY KEY,
  user_id uuid NOT NULL
);

CREATE FUNCTION count_records() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE change record;
BEGIN
  CASE TG_OP
    WHEN 'INSERT' THEN
      FOR change IN
        SELECT user_id, count(*) AS items, sum(octet_length(encrypted_data))::bigint AS bytes
        FROM added JOIN vault_payers USING (vault_id) GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'records', change.items, change.bytes, quota('items'), quota('bytes'));
      END LOOP;
    WHEN 'UPDATE' THEN
      FOR change IN
        SELECT user_id, sum(bytes)::bigint AS bytes FROM (
          SELECT vault_id, octet_length(encrypted_data) AS bytes FROM added
          UNION ALL
          SELECT vault_id, -octet_length(encrypted_data) FROM removed
        ) AS sizes JOIN vault_payers USING (vault_id) GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'records', 0, change.bytes, quota('items'), quota('bytes'));
      END LOOP;
    ELSE
      FOR change IN
        SELECT user_id, count(*) AS items, sum(octet_length(encrypted_data))::bigint AS bytes
        FROM removed JOIN vault_payers USING (vault_id) GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'records', -change.items, -change.bytes, NULL, NULL);
      END LOOP;
  END CASE;
  RETURN NULL;
END $$;

CREATE TRIGGER records_added AFTER INSERT ON records
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_records();
CREATE TRIGGER records_changed AFTER UPDATE ON records
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_records();
CREATE TRIGGER records_removed AFTER DELETE ON records
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_records();

-- Finds another payer for vaults whose payer does not manage them any more: the manager who has been one longest, of those
-- whose quota the vault fits into. Without such a manager the payer stays. The transaction holds the vaults alone. It counts
-- what one person has paid for, at most a quota.
CREATE FUNCTION settle_payers(vault_ids uuid[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE vault record; held record; manager uuid;
BEGIN
  FOR vault IN
    SELECT v.id, p.user_id AS payer FROM vaults v LEFT JOIN vault_payers p ON p.vault_id = v.id
    WHERE v.id = ANY (vault_ids) AND NOT EXISTS (
      SELECT FROM vault_members m WHERE m.vault_id = v.id AND m.user_id = p.user_id AND m.permission = 'manage'
    ) ORDER BY v.id
  LOOP
    SELECT count(*) AS items, coalesce(sum(octet_length(encrypted_data)), 0)::bigint AS bytes INTO held
    FROM records WHERE vault_id = vault.id;
    FOR manager IN
      SELECT user_id FROM vault_members WHERE vault_id = vault.id AND permission = 'manage' ORDER BY added_at, user_id
    LOOP
      BEGIN
        PERFORM add_usage(manager, 'records', held.items, held.bytes, quota('items'), quota('bytes'));
      EXCEPTION WHEN SQLSTATE 'CFQ01' THEN CONTINUE;
      END;
      IF vault.payer IS NOT NULL THEN
        PERFORM add_usage(vault.payer, 'records', -held.items, -held.bytes, NULL, NULL);
      END IF;
      INSERT INTO vault_payers (vault_id, user_id) VALUES (vault.id, manager)
      ON CONFLICT (vault_id) DO UPDATE SET user_id = excluded.user_id;
      EXIT;
    END LOOP;
  END LOOP;
END $$;

CREATE FUNCTION settle_payers_of_members() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  CASE TG_OP
    WHEN 'INSERT' THEN PERFORM settle_payers(ARRAY(SELECT DISTINCT vault_id FROM added));
    WHEN 'UPDATE' THEN PERFORM settle_payers(ARRAY(
      SELECT DISTINCT added.vault_id FROM added JOIN removed USING (vault_id, user_id)
      WHERE added.permission <> removed.permission
    ));
    ELSE PERFORM settle_payers(ARRAY(SELECT DISTINCT vault_id FROM removed));
  END CASE;
  RETURN NULL;
END $$;

CREATE TRIGGER members_added AFTER INSERT ON vault_members
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settle_payers_of_members();
CREATE TRIGGER members_changed AFTER UPDATE ON vault_members
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settle_payers_of_members();
CREATE TRIGGER members_removed AFTER DELETE ON vault_members
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION settle_payers_of_members();

-- What a person has staged for rotations is bounded on its own: counted as records too, half of the quota would stay unused.
CREATE FUNCTION count_staged() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE change record;
BEGIN
  CASE TG_OP
    WHEN 'INSERT' THEN
      FOR change IN
        SELECT user_id, sum(octet_length(encrypted_data))::bigint AS bytes FROM added GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'staged', 0, change.bytes, NULL, quota('bytes'));
      END LOOP;
    WHEN 'UPDATE' THEN
      FOR change IN
        SELECT user_id, sum(bytes)::bigint AS bytes FROM (
          SELECT user_id, octet_length(encrypted_data) AS bytes FROM added
          UNION ALL
          SELECT user_id, -octet_length(encrypted_data) FROM removed
        ) AS sizes GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'staged', 0, change.bytes, NULL, quota('bytes'));
      END LOOP;
    ELSE
      FOR change IN
        SELECT user_id, sum(octet_length(encrypted_data))::bigint AS bytes FROM removed GROUP BY user_id ORDER BY user_id
      LOOP
        PERFORM add_usage(change.user_id, 'staged', 0, -change.bytes, NULL, NULL);
      END LOOP;
  END CASE;
  RETURN NULL;
END $$;

CREATE TRIGGER staged_added AFTER INSERT ON staged_records
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_staged();
CREATE TRIGGER staged_changed AFTER UPDATE ON staged_records
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_staged();
CREATE TRIGGER staged_removed AFTER DELETE ON staged_records
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_staged();

-- The present usage. Nobody writes these tables between this count and the commit: the triggers have locked them. Who made a
-- vault is not stored: its first manager pays. Vaults that were deleted and are not empty yet have no payer.
INSERT INTO vault_payers (vault_id, user_id)
SELECT DISTINCT ON (vault_id) vault_id, user_id FROM vault_members
ORDER BY vault_id, permission = 'manage' DESC, added_at, user_id;

INSERT INTO usage (owner, kind, share, items, bytes)
SELECT user_id, kind, n, share_of(items, n), share_of(bytes, n)
FROM (
  SELECT user_id, 'records' AS kind, count(*) AS items, sum(octet_length(encrypted_data))::bigint AS bytes
  FROM records JOIN vault_payers USING (vault_id) GROUP BY user_id
  UNION ALL
  SELECT user_id, 'staged', 0, sum(octet_length(encrypted_data))::bigint FROM staged_records GROUP BY user_id
) AS present CROSS JOIN generate_series(0, 7) AS n;
