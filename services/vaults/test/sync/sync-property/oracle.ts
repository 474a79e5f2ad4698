import type pg from "pg";

// Triggers note visibility independently of `sights`. A change of visibility locks the vault
// exclusively until the commit, and writers of records share the lock. The notes are made at the
// commit, under all locks: their order is that of the commits.
const triggers = `
  CREATE SCHEMA oracle;
  CREATE SEQUENCE oracle.moment;
  CREATE TABLE oracle.lives (vault_id uuid, id uuid PRIMARY KEY, born bigint NOT NULL, died bigint);
  CREATE TABLE oracle.seen (
    at bigint PRIMARY KEY, user_id uuid NOT NULL, vault_id uuid NOT NULL, visible boolean NOT NULL
  );
  CREATE INDEX ON oracle.seen (user_id, vault_id, at);

  CREATE VIEW oracle.visible AS
    SELECT m.user_id, m.vault_id
    FROM vaults.vault_members m
    JOIN vaults.vaults v ON v.id = m.vault_id
    LEFT JOIN vaults.people p ON p.user_id = m.user_id
    LEFT JOIN vaults.memberships o ON o.org_id = v.org_id AND o.user_id = m.user_id
    WHERE (v.safe_for_travel OR coalesce(p.travelling, false) = false)
      AND (v.org_id IS NULL OR (o.status = 'active' AND o.role <> 'auditor'));

  CREATE FUNCTION oracle.note(person uuid, vault uuid) RETURNS void LANGUAGE sql AS $$
    INSERT INTO oracle.seen SELECT nextval('oracle.moment'), person, vault,
      EXISTS (SELECT FROM oracle.visible v WHERE v.user_id = person AND v.vault_id = vault)
  $$;

  CREATE FUNCTION oracle.born() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO oracle.lives VALUES (NEW.vault_id, NEW.id, nextval('oracle.moment')); RETURN NULL;
  END $$;
  CREATE TRIGGER born AFTER INSERT ON vaults.records FOR EACH ROW EXECUTE FUNCTION oracle.born();
  CREATE FUNCTION oracle.died() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE oracle.lives SET died = nextval('oracle.moment') WHERE id = OLD.id; RETURN NULL;
  END $$;
  CREATE TRIGGER died AFTER DELETE ON vaults.records FOR EACH ROW EXECUTE FUNCTION oracle.died();

  CREATE FUNCTION oracle.joined() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM oracle.note(coalesce(NEW.user_id, OLD.user_id), coalesce(NEW.vault_id, OLD.vault_id)); RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER joined AFTER INSERT OR DELETE ON vaults.vault_members
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION oracle.joined();
  CREATE FUNCTION oracle.person() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM oracle.note(user_id, vault_id) FROM vaults.vault_members WHERE user_id = NEW.user_id; RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER person AFTER UPDATE ON vaults.people
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION oracle.person();
  CREATE CONSTRAINT TRIGGER person AFTER INSERT OR UPDATE ON vaults.memberships
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION oracle.person();
  CREATE FUNCTION oracle.flagged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM oracle.note(user_id, vault_id) FROM vaults.vault_members WHERE vault_id = NEW.id; RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER flagged AFTER UPDATE OF safe_for_travel ON vaults.vaults
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION oracle.flagged();
`;

/** The records that a device must hold, and those that it must never receive. */
export interface Oracle {
  /** The records that a person sees, with their server timestamps. Exact only without concurrent writes. */
  truth(userId: string): Promise<Map<string, string>>;
  /** Those of these records that the person could never have seen. */
  neverSeen(userId: string, ids: readonly string[]): Promise<string[]>;
}

/** Installs the triggers. */
export async function createOracle(connections: pg.Pool): Promise<Oracle> {
  await connections.query(triggers);
  return {
    async truth(userId) {
      const { rows } = await connections.query<{ id: string; at: string }>(
        `SELECT r.id, to_char(r.updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
         FROM oracle.visible v JOIN vaults.records r ON r.vault_id = v.vault_id WHERE v.user_id = $1`,
        [userId],
      );
      return new Map(rows.map(({ id, at }) => [id, at]));
    },
    async neverSeen(userId, ids) {
      if (ids.length === 0) return [];
      const { rows } = await connections.query<{ id: string }>(
        `SELECT named.id FROM unnest($2::uuid[]) AS named (id)
         WHERE NOT EXISTS (
           SELECT FROM oracle.lives l JOIN oracle.seen s ON s.vault_id = l.vault_id AND s.user_id = $1 AND s.visible
           WHERE l.id = named.id AND (l.died IS NULL OR s.at < l.died) AND NOT EXISTS (
             SELECT FROM oracle.seen n
             WHERE n.user_id = $1 AND n.vault_id = l.vault_id AND NOT n.visible AND n.at > s.at AND n.at < l.born
           )
         )`,
        [userId, ids],
      );
      return rows.map(({ id }) => id);
    },
  };
}
