import pg from "pg";
import { call } from "../support/call.ts";
import { bearer, createMachine, type Machine } from "../support/machines.ts";
import { execute, join, orgOf, type Role } from "../support/members.ts";
import { type Person, register } from "../support/people.ts";
import type { TestService } from "../support/service.ts";
import { inParallel } from "./parallel.ts";
import type { Grantees } from "./targets.ts";

/** A caller. */
export interface Caller {
  kind: "person" | "machine" | "nobody";
  /** What the request shows; undefined without an Authorization header. */
  token(): string | undefined;
  headers: Record<string, string>;
  /** Null for a machine, and for an anonymous caller. */
  person: Person | null;
  /** In whose chain the caller's refusals are. */
  chain: string | null;
  /** In whose chain what concerns the person alone is. */
  personsChain: string | null;
}

export interface Cast {
  callers: ReadonlyMap<string, Caller>;
  pool: pg.Pool;
  ours: { orgId: string; boss: Person };
  foreign: { orgId: string; boss: Person };
  /** Who has grants on the folders of each organization. */
  grantees: { ours: Grantees; foreign: Grantees };
}

const roles: Record<string, Role> = {
  O: "owner",
  "O+": "owner",
  A: "admin",
  "A+": "admin",
  U: "auditor",
  "U+": "auditor",
  M: "member",
  Mr: "member",
  Mw: "member",
  Mm: "member",
  S: "admin",
};
const grants: Record<string, string> = {
  "O+": "manage",
  "A+": "manage",
  "U+": "manage",
  Mr: "read",
  Mw: "write",
  Mm: "manage",
  S: "manage",
};

/** All callers, by their names in the tables. */
export async function gather(service: TestService): Promise<Cast> {
  const pool = new pg.Pool({ connectionString: service.postgres.url, max: 4 });
  // It has ended before its connections have: the test's database, which goes next, may cut them off.
  pool.on("error", () => undefined);
  const names = [...Object.keys(roles), "I", "X", "Y", "boss", "foreign boss", "ended"];
  const withOrg = ["X", "Y", "boss", "foreign boss"];
  const people = new Map<string, Person>();
  const registered = async (name: string): Promise<void> => {
    people.set(name, await register(service, withOrg.includes(name) ? { orgName: name } : {}));
  };
  await inParallel(names, registered, 3);
  const person = (name: string): Person => people.get(name) ?? missing(name);
  const [boss, foreignBoss] = [person("boss"), person("foreign boss")];
  const [orgId, foreignOrgId] = [await orgOf(service, boss), await orgOf(service, foreignBoss)];
  for (const [name, role] of Object.entries(roles))
    await join(service, orgId, person(name), role, name === "S" ? "suspended" : "active");
  await call(service, "POST", "/api/auth/logout", { token: person("ended").token });
  const callers = new Map<string, Caller>();
  for (const name of [...Object.keys(roles), "I", "X", "Y", "ended"]) {
    const { token } = person(name);
    const chain = name === "X" ? await orgOf(service, person(name)) : ["S", "I", "Y"].includes(name) ? null : orgId;
    const headers: Record<string, string> = name === "Y" ? { "x-coffer-org": orgId } : {};
    const personsChain = name === "I" ? null : await orgOf(service, person(name)).catch(() => null);
    callers.set(name, { kind: "person", token: () => token, headers, person: person(name), chain, personsChain });
  }
  const machines = new Map<string, Machine>();
  for (const name of ["R", "W", "N", "V", "E", "T", "F"]) {
    const machine = await createMachine(service, name === "F" ? foreignBoss : boss, []);
    machines.set(name, machine);
    const hourAgo = Math.floor(Date.now() / 1000) - 3600;
    const claims = name === "T" ? { iat: hourAgo - 300, exp: hourAgo } : {};
    const chain = name === "F" ? foreignOrgId : orgId;
    const token = (): string => bearer(machine, { claims });
    callers.set(name, { kind: "machine", token, headers: {}, person: null, chain, personsChain: null });
  }
  const client = (name: string): string => machines.get(name)?.clientId ?? missing(name);
  const { applicationId } = machines.get("V") ?? missing("V");
  const revoked = `/api/org/applications/${applicationId}/clients/${client("V")}`;
  await call(service, "DELETE", revoked, { token: boss.token });
  await execute(service, "UPDATE auth_sm.clients SET expires_at = now() - interval '1 second' WHERE id = $1", [
    client("E"),
  ]);
  callers.set("nobody", {
    kind: "nobody",
    token: () => undefined,
    headers: {},
    person: null,
    chain: null,
    personsChain: null,
  });
  callers.set("noise", {
    kind: "nobody",
    token: () => "a.b.c",
    headers: {},
    person: null,
    chain: null,
    personsChain: null,
  });
  return {
    callers,
    pool,
    ours: { orgId, boss },
    foreign: { orgId: foreignOrgId, boss: foreignBoss },
    grantees: {
      ours: {
        people: Object.entries(grants).map(([name, permission]) => [person(name).userId, permission] as const),
        machines: [
          [client("R"), "read"],
          [client("W"), "write"],
          [client("V"), "write"],
          [client("E"), "write"],
          [client("T"), "write"],
        ],
      },
      foreign: { people: [], machines: [[client("F"), "write"]] },
    },
  };
}

function missing(name: string): never {
  throw new Error(`there is no caller ${name}`);
}
