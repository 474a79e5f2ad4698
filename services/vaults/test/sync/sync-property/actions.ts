import { ServiceError } from "@coffer/errors";
import { type AuditedCall, auditOf, type RequestContext } from "@coffer/http";
import { QueryFailure } from "@coffer/postgres";
import { newId, type User } from "@coffer/service";
import type { Random } from "@coffer/testkit";
import type pg from "pg";
import type { Deps } from "../../../src/deps.ts";
import { shareVault } from "../../../src/members/share.ts";
import { unshareVault } from "../../../src/members/unshare.ts";
import { applyMemberships } from "../../../src/people/apply.ts";
import { createRecord } from "../../../src/records/create.ts";
import { importRecords } from "../../../src/records/import.ts";
import { removeRecord } from "../../../src/records/remove.ts";
import { updateRecord } from "../../../src/records/update.ts";
import { setPersonsTravelMode } from "../../../src/travel/set.ts";
import { createVault } from "../../../src/vaults/create.ts";
import { removeVault } from "../../../src/vaults/remove.ts";
import { updateVault } from "../../../src/vaults/update.ts";

/** The people of the test and their organization. */
export interface Cast {
  orgId: string;
  userIds: readonly string[];
}

const request: RequestContext = {
  id: "0",
  method: "POST",
  route: "/api/vaults",
  ip: "192.0.2.1",
  userAgent: null,
  time: "2026-11-20T10:00:00.000000Z",
};

function call<Params, Body>(userId: string, params: Params, body: Body): AuditedCall<User, Params, Body, undefined> {
  const caller: User = { kind: "user", userId, sessionId: newId(), orgId: undefined };
  return {
    caller,
    params,
    body,
    query: undefined,
    request,
    audit: ({ orgId, actor }) =>
      auditOf({ newId }, request, {
        org_id: orgId,
        action: "vault.updated",
        actor,
        target: { type: "vault", id: null },
        status: 200,
      }),
    headers: {},
    held: [],
    expected: undefined,
  };
}

/** A key that looks sealed to a person. */
const sealed = "a.b.c.d.e";

/** The actions, as often as they occur. */
const deeds = [
  ...Array.from({ length: 26 }, () => "create" as const),
  ...Array.from({ length: 24 }, () => "update" as const),
  ...Array.from({ length: 12 }, () => "delete" as const),
  ...Array.from({ length: 4 }, () => "import" as const),
  ...Array.from({ length: 8 }, () => "share" as const),
  ...Array.from({ length: 7 }, () => "unshare" as const),
  ...Array.from({ length: 8 }, () => "travel" as const),
  ...Array.from({ length: 5 }, () => "flag" as const),
  ...Array.from({ length: 3 }, () => "found" as const),
  ...Array.from({ length: 2 }, () => "raze" as const),
  ...Array.from({ length: 4 }, () => "suspend" as const),
];

/** Does a random action, or finds that it is impossible. Throws unexpected errors only. */
export async function doSomething(
  deps: Deps,
  { random, cast, connections }: { random: Random; cast: Cast; connections: pg.Pool },
): Promise<void> {
  const deed = random.pick(deeds);
  try {
    await does[deed](deps, { random, cast, connections });
  } catch (error) {
    // Two of them conflicted, or the test rolled one back.
    if (!(error instanceof ServiceError) && !(error instanceof QueryFailure)) throw error;
    if (error instanceof ServiceError && error.code === "internal_error") throw error;
  }
}

type Scene = Parameters<typeof doSomething>[1];

interface Place {
  vault_id: string;
  user_id: string;
}

/** A member of a vault, mostly one that sees it. */
async function pickMember({ random, connections }: Scene): Promise<Place | undefined> {
  const { rows } = await connections.query<Place>(
    `SELECT vault_id, user_id FROM vaults.vault_members
     WHERE random() < 0.05 OR (user_id, vault_id) IN (SELECT user_id, vault_id FROM oracle.visible) ORDER BY 1, 2`,
  );
  return rows.length === 0 ? undefined : random.pick(rows);
}

/** A record with a member, mostly one that sees it. */
async function pickRecord(scene: Scene): Promise<(Place & { id: string }) | undefined> {
  const member = await pickMember(scene);
  if (member === undefined) return undefined;
  const { rows } = await scene.connections.query<{ id: string }>(
    "SELECT id FROM vaults.records WHERE vault_id = $1 ORDER BY id",
    [member.vault_id],
  );
  return rows.length === 0 ? undefined : { ...member, ...scene.random.pick(rows) };
}

/** A record of ordinary size, rarely one so large that two fill a part. */
function content(random: Random): { type: string; encrypted_data: string } {
  return { type: "login", encrypted_data: "AAAA".repeat(random.chance(0.03) ? 40_000 : 4) };
}

const does = {
  async create(deps: Deps, scene: Scene) {
    const member = await pickMember(scene);
    if (member !== undefined)
      await createRecord(deps, call(member.user_id, { id: member.vault_id }, content(scene.random)));
  },
  async update(deps: Deps, scene: Scene) {
    const record = await pickRecord(scene);
    if (record === undefined) return;
    const path = { id: record.vault_id, rid: record.id };
    await updateRecord(deps, call(record.user_id, path, content(scene.random)));
  },
  async delete(deps: Deps, scene: Scene) {
    const record = await pickRecord(scene);
    if (record === undefined) return;
    await removeRecord(deps, call(record.user_id, { id: record.vault_id, rid: record.id }, undefined));
  },
  async import(deps: Deps, scene: Scene) {
    const member = await pickMember(scene);
    if (member === undefined) return;
    const records = [content(scene.random), content(scene.random), content(scene.random)];
    await importRecords(deps, call(member.user_id, { id: member.vault_id }, { records }));
  },
  async share(deps: Deps, scene: Scene) {
    const [member, other] = [await pickMember(scene), scene.random.pick(scene.cast.userIds)];
    if (member === undefined) return;
    const body = { permission: "manage" as const, encrypted_key: sealed };
    await shareVault(deps, call(member.user_id, { id: member.vault_id, user_id: other }, body));
  },
  async unshare(deps: Deps, scene: Scene) {
    const member = await pickMember(scene);
    if (member === undefined) return;
    await unshareVault(deps, call(member.user_id, { id: member.vault_id, user_id: member.user_id }, undefined));
  },
  async travel(deps: Deps, { random, cast }: Scene) {
    const userId = random.pick(cast.userIds);
    await setPersonsTravelMode(deps, { user_id: userId, enabled: random.chance(0.4), audit: [] });
  },
  async flag(deps: Deps, scene: Scene) {
    const member = await pickMember(scene);
    if (member === undefined) return;
    const body = { safe_for_travel: scene.random.chance(0.5) };
    await updateVault(deps, call(member.user_id, { id: member.vault_id }, body));
  },
  async found(deps: Deps, { random, cast }: Scene) {
    const userId = random.pick(cast.userIds);
    await foundVault(deps, userId);
  },
  async raze(deps: Deps, scene: Scene) {
    const member = await pickMember(scene);
    if (member !== undefined) await removeVault(deps, call(member.user_id, { id: member.vault_id }, undefined));
  },
  async suspend(deps: Deps, { random, cast, connections }: Scene) {
    const userId = random.pick(cast.userIds);
    const { rows } = await connections.query<{ version: string }>("SELECT nextval('oracle.moment') AS version");
    const status = random.chance(0.3) ? ("suspended" as const) : ("active" as const);
    await applyMemberships(deps, [membershipOf(cast.orgId, userId, status, Number(rows[0]?.version))]);
  },
};

/** Makes a vault. */
export async function foundVault(deps: Deps, userId: string): Promise<void> {
  await createVault(deps, call(userId, undefined, { name: "v", type: "shared" as const, encrypted_key: "AAAA" }));
}

/** A membership as auth-sm sends it. */
export function membershipOf(org_id: string, user_id: string, status: "active" | "suspended", version: number) {
  const joined_at = "2026-11-20T10:00:00.000000Z";
  return { org_id, user_id, status, version, role: "member" as const, name: "", email: "", joined_at };
}
