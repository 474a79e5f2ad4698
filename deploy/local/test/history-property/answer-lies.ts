import type { Random } from "@coffer/testkit";
import type { Actor } from "./actor.ts";
import type { Attacker } from "./attacker.ts";
import {
  type Answered,
  dataOf,
  holderList,
  type Item,
  type Lie,
  oneRecord,
  oneSecret,
  recordList,
  secretList,
} from "./lie.ts";
import type { Sent } from "./oracle.ts";
import type { Truth } from "./truth.ts";

// Lies about single responses, which need no forged history.

/** Lists in another order, with one item less, or with one twice. */
export const scrambled = (random: Random): Lie => {
  const [kind, which, only] = [random.below(4), random.below(8), random.below(3)];
  return {
    name: "lists in another order, or not whole",
    after({ method, pathname }, { body }) {
      const data = (body as { data?: unknown[] } | undefined)?.data;
      if (method !== "GET" || !Array.isArray(data) || data.length === 0 || pathname.length % 3 !== only) return body;
      const at = which % data.length;
      const changed = [
        data.toReversed(),
        data.filter((_, index) => index !== at),
        [...data, data[at]],
        data.slice(0, at),
      ][kind];
      return { ...(body as Item), data: changed };
    },
  };
};

/** Lists of holders, machines and members with others in them, others' keys, and without some. */
export const holders = (random: Random, attacker: Attacker, deed: string): Lie => {
  const stranger = random.pick(attacker.strangers);
  const accomplice = random.pick(attacker.accomplices());
  const all = ["key", "without a key", "more", "fewer", "suspended", "role", "turned"] as const;
  const change = deed === "rotate" && random.below(2) === 0 ? "suspended" : random.pick(all);
  const which = random.below(5);
  return {
    name: `lists of holders: ${change}`,
    after({ method, pathname }, { body, status }) {
      if (method !== "GET" || status !== 200) return body;
      if (/^\/api\/users\/[^/]+\/public_key$/.test(pathname) && change === "key")
        return { ...(body as Item), public_key: stranger.publicKey };
      const isHolders = holderList.test(pathname);
      const isMembers = pathname === "/api/org/members";
      if (!isHolders && !isMembers && !/\/clients$/.test(pathname)) return body;
      const data = dataOf(body);
      const one = data[which % Math.max(1, data.length)];
      if (change === "fewer") return { data: data.filter((item) => item !== one) };
      if (change === "turned") return { data: data.toReversed() };
      if (change === "key" && one !== undefined && "public_key" in one)
        return { data: data.map((item) => (item === one ? { ...item, public_key: stranger.publicKey } : item)) };
      if (change === "without a key" && isHolders) return { data: data.map((item) => ({ ...item, has_key: false })) };
      if (change === "suspended" && isMembers) return { data: data.map((item) => ({ ...item, status: "suspended" })) };
      if (change === "role" && isMembers) return { data: data.map((item) => ({ ...item, role: "owner" })) };
      if (change !== "more" || !isHolders) return { data };
      const isVault = pathname.startsWith("/api/vaults/");
      const added = [stranger, accomplice].map(({ who, publicKey }): Item => {
        const [kind, id] = who.split(":");
        const shown = { name: "a colleague", permission: "read", public_key: publicKey, has_key: false };
        return isVault
          ? { user_id: id, email: "colleague@example.com", added_at: "", ...shown }
          : { kind, id, ...shown };
      });
      const idOf = (item: Item): unknown => item["id"] ?? item["user_id"];
      return { data: [...data.filter((item) => added.every((other) => idOf(other) !== idOf(item))), ...added] };
    },
  };
};

/** Another keyring than the newest, or one that does not open. */
export const keyrings = (random: Random, truth: Truth, actor: Actor): Lie => {
  const versions = [...(truth.keyrings.get(actor.who) ?? [])];
  const [version, held] = versions.length === 0 ? [1, undefined] : random.pick(versions);
  const kind = random.below(4);
  return {
    name: `another keyring (${kind}, version ${version})`,
    after({ method, pathname }, answered) {
      if (pathname !== "/api/account/keyring" || method !== "GET" || answered.status !== 200) return answered.body;
      const now = answered.body as Item;
      if (kind === 0) return { ...now, sealed: held?.sealed ?? now["sealed"] };
      if (kind === 1) return { version, sealed: held?.sealed ?? now["sealed"] };
      if (kind === 2) return { ...now, version: Number(now["version"]) + 1 };
      return { version, sealed: "AQ==" };
    },
  };
};

/** Other newest entries of the histories that name a person. */
export const heads = (random: Random): Lie => {
  const kind = random.below(3);
  return {
    name: "other heads",
    after({ pathname }, { body }) {
      if (!pathname.endsWith("/heads")) return body;
      const data = Object.entries((body as { data: Record<string, [number, string]> }).data);
      if (kind === 0) return { data: {} };
      const changed = data.map(([name, [seq, hash]]) => [name, kind === 1 ? [0, hash] : [seq + 3, hash]]);
      return { data: Object.fromEntries(changed) as unknown };
    },
  };
};

/** The service performs the request, and loses the response. */
export const lost = (random: Random): Lie => {
  let left = random.below(6);
  return {
    name: "an answer is lost",
    after({ method }, { body }) {
      if (method === "GET") return body;
      left -= 1;
      if (left >= 0) return body;
      throw new TypeError("fetch failed");
    },
  };
};

/** The service acknowledges a request without performing it. */
export const swallowed = (random: Random): Lie => {
  let left = random.below(2);
  return {
    name: "a change is not stored",
    instead(sent) {
      const done = acknowledgement(sent);
      if (done === undefined) return undefined;
      left -= 1;
      return left >= 0 ? undefined : done;
    },
  };
};

/** One request is refused with 503. */
export const unavailable = (random: Random): Lie => {
  let left = random.below(6);
  const body = { error: "unavailable", message: "not now", request_id: "0", details: [] };
  return {
    name: "the service is away",
    instead() {
      left -= 1;
      return left === -1 ? { status: 503, headers: { "retry-after": "600" }, body } : undefined;
    },
  };
};

/** The process ends after so many requests. */
export const crash = (requests: number): Lie => {
  let left = requests;
  return {
    name: `it ends after ${requests} requests`,
    instead() {
      left -= 1;
      if (left < 0) throw new TypeError("fetch failed");
      return undefined;
    },
  };
};

/** A rotation stores unreadable values unchanged: a service can always lose data. */
export function sparingSecrets(lie: Lie): Lie {
  const { name, instead, after } = lie;
  const isSecrets = ({ pathname }: Sent): boolean =>
    [secretList, oneSecret, recordList, oneRecord].some((pattern) => pattern.test(pathname));
  return {
    name,
    ...(instead === undefined ? {} : { instead }),
    ...(after === undefined
      ? {}
      : { after: (sent, answered) => (isSecrets(sent) ? answered.body : after(sent, answered)) }),
  };
}

/** The response of the service to a performed request. */
function acknowledgement({ method, pathname, body }: Sent): Answered | undefined {
  const ok = (answer: unknown, status = 200): Answered => ({ status, headers: {}, body: answer });
  const id = /folders\/([^/]+)/.exec(pathname)?.[1];
  const at = "2026-11-20T10:00:00.000000Z";
  const record = recordList.exec(pathname)?.[1];
  if (method === "DELETE") return ok(undefined, 204);
  if (method === "PUT" && /^\/api\/vaults\/[^/]+\/pin$/.test(pathname)) return ok(body);
  if (method === "POST" && record !== undefined)
    return ok({ ...body, vault_id: record, created_at: at, updated_at: at }, 201);
  if (pathname.startsWith("/api/vaults/") && !/\/members\/[^/]+$/.test(pathname)) return undefined;
  if (pathname.endsWith("/rotate")) return ok({ id, key_version: Number(body["key_version"]) + 1 });
  if (pathname.endsWith("/history") && typeof body["entry"] === "string") return ok({ history_seq: 0 }, 201);
  if (method === "PATCH" && id !== undefined) return ok({ id, ...body });
  if (method === "PUT" && pathname === "/api/account/keyring") return ok(body);
  if (method === "PUT" && /\/members\/[^/]+$/.test(pathname))
    return ok({ ...body, user_id: pathname.split("/").at(-1) });
  if (method === "PUT" && pathname.includes("/clients/"))
    return ok({ ...body, client_id: pathname.split("/")[6], folder_id: pathname.split("/").at(-1) });
  if (method === "POST" && pathname.endsWith("/secrets")) return ok({ ...body, version: 1 }, 201);
  return undefined;
}
