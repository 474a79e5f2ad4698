-- How many items and bytes of a kind an owner has stored (docs/adr/0018). Eight rows, the shares, add up to the usage of an
-- owner: writers that run concurrently lock different shares. Triggers on the tables that hold the items call add_usage.
CREATE TABLE usage (
  owner uuid NOT NULL,
  kind text NOT NULL,
  share integer NOT NULL,
  items bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (owner, kind, share)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- One share's part of an amount. The remainder of the division goes to the first shares, for limits and for usage alike:
-- a usage within its limit is within it in every share.
CREATE FUNCTION share_of(amount bigint, share integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (amount >> 3) + CASE WHEN share < (amount & 7) THEN 1 ELSE 0 END
$$;

-- Adds to the usage of an owner. A limit that is null does not apply, and neither does one to an amount that does not grow.
-- Raises SQLSTATE CFQ01, with the constraint quota_<kind>_items or quota_<kind>_bytes, when the usage would exceed a limit.
CREATE FUNCTION add_usage(
  of_owner uuid, of_kind text, more_items bigint, more_bytes bigint, most_items bigint, most_bytes bigint
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  limited_items CONSTANT bigint := CASE WHEN more_items > 0 THEN most_items END;
  limited_bytes CONSTANT bigint := CASE WHEN more_bytes > 0 THEN most_bytes END;
  total record;
BEGIN
  IF more_items = 0 AND more_bytes = 0 THEN RETURN; END IF;

  -- A share that no other transaction holds and that has room. While each share is within its part of the limit, the sum
  -- is within the limit. After a limit was lowered a share may be over its part: then only the sum decides.
  UPDATE usage SET items = items + more_items, bytes = bytes + more_bytes
  WHERE owner = of_owner AND kind = of_kind AND share = (
    SELECT u.share FROM usage u
    WHERE u.owner = of_owner AND u.kind = of_kind
      AND (limited_items IS NULL OR u.items + more_items <= share_of(limited_items, u.share))
      AND (limited_bytes IS NULL OR u.bytes + more_bytes <= share_of(limited_bytes, u.share))
      AND NOT EXISTS (
        SELECT FROM usage other
        WHERE other.owner = of_owner AND other.kind = of_kind
          AND (other.items > share_of(limited_items, other.share) OR other.bytes > share_of(limited_bytes, other.share))
      )
    ORDER BY u.share LIMIT 1 FOR UPDATE SKIP LOCKED
  );
  IF FOUND THEN RETURN; END IF;

  -- No share alone has room, or there is none yet: the sum of all of them decides, and is spread evenly again.
  INSERT INTO usage (owner, kind, share) SELECT of_owner, of_kind, n FROM generate_series(0, 7) AS n ON CONFLICT DO NOTHING;
  PERFORM FROM usage WHERE owner = of_owner AND kind = of_kind ORDER BY share FOR UPDATE;
  SELECT sum(items)::bigint + more_items AS items, sum(bytes)::bigint + more_bytes AS bytes INTO total
  FROM usage WHERE owner = of_owner AND kind = of_kind;
  IF total.items > limited_items THEN
    RAISE EXCEPTION 'over the quota' USING ERRCODE = 'CFQ01', CONSTRAINT = 'quota_' || of_kind || '_items';
  END IF;
  IF total.bytes > limited_bytes THEN
    RAISE EXCEPTION 'over the quota' USING ERRCODE = 'CFQ01', CONSTRAINT = 'quota_' || of_kind || '_bytes';
  END IF;
  UPDATE usage SET items = share_of(total.items, share), bytes = share_of(total.bytes, share)
  WHERE owner = of_owner AND kind = of_kind;
END $$;

-- A limit as the connection has it; null where a connection has none.
CREATE FUNCTION quota(of_what text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT nullif(current_setting('coffer.quota_' || of_what, true), '')::bigint
$$;
