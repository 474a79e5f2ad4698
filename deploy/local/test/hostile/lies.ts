import { box, type Context, contexts, encodeRecord, encodeSecret, encodeText } from "@coffer/crypto";
import { mark, sealedKey } from "./attacker.ts";
import { type Exchange, kindOf, type Lie } from "./wire.ts";
import type { Person, World } from "./world.ts";

export type Json = Record<string, unknown>;

/** A lie about every response of these kinds: changes the body of a successful one. */
export function rewrite(kinds: readonly string[], change: (body: Json, exchange: Exchange) => unknown): Lie {
  return async (exchange) => {
    const { answer } = exchange;
    if (!kinds.includes(kindOf(exchange)) || answer.status >= 300 || typeof answer.body !== "object") return answer;
    return { status: 200, body: await change(answer.body as Json, exchange) };
  };
}

/** Several lies, one after the other. */
export function all(...lies: readonly Lie[]): Lie {
  return async (exchange) => {
    let answer = exchange.answer;
    for (const lie of lies) answer = await lie({ ...exchange, answer });
    return answer;
  };
}

/** Another status instead of the truth. */
export function refuse(kinds: readonly string[], status: number, error: string): Lie {
  return (exchange) =>
    kinds.includes(kindOf(exchange))
      ? { status, body: { error, message: "a sentence", request_id: "00000000-0000-4000-8000-000000000000" } }
      : exchange.answer;
}

export const folderLists = ["GET /api/org/folders", "GET /api/sm/v1/folders"];
export const secretLists = [
  "GET /api/org/folders/{id}/secrets",
  "GET /api/sm/v1/secrets",
  "GET /api/sm/v1/secrets/search",
];
export const secretAnswers = [...secretLists, "GET /api/sm/v1/secrets/{id}", "GET /api/org/folders/{id}/secrets/{id}"];

const itemsOf = (body: Json): Json[] => (Array.isArray(body["data"]) ? (body["data"] as Json[]) : [body]);

/** Changes each item of lists (or the one object of an answer). */
export function eachItem(
  kinds: readonly string[],
  change: (item: Json, exchange: Exchange) => Json | Promise<Json>,
): Lie {
  return rewrite(kinds, async (body, exchange) => {
    const items = await Promise.all(itemsOf(body).map(async (item) => change(item, exchange)));
    return Array.isArray(body["data"]) ? { ...body, data: items } : items[0];
  });
}

/** Shows only these entries as the history of a resource, everywhere. */
export function showHistory(res: string, entries: readonly string[]): Lie {
  const [kind = "", id = ""] = res.split(":");
  const newest = entries.length === 0 ? null : entries.length - 1;
  const paths =
    kind === "org"
      ? ["/api/org/history"]
      : kind === "folder"
        ? [`/api/org/folders/${id}/history`, `/api/sm/v1/folders/${id}/history`]
        : [`/api/vaults/${id}/history`];
  const pages: Lie = (exchange) => {
    const invited = kind === "org" && exchange.path === "/api/org/invites/history";
    if (!invited && (exchange.method !== "GET" || !paths.includes(exchange.path))) return exchange.answer;
    const after = invited ? (exchange.body as Json)["after"] : new URLSearchParams(exchange.query).get("after");
    const from = after === null || after === undefined ? 0 : Number(after) + 1;
    return { status: 200, body: { data: entries.slice(from), history_seq: newest } };
  };
  const numbered = (item: Json): Json =>
    item["id"] === id || item["folder_id"] === id || item["vault_id"] === id
      ? "history_seq" in item
        ? { ...item, history_seq: newest }
        : item
      : item;
  return all(
    pages,
    eachItem([...folderLists, ...secretAnswers, "GET /api/org", "GET /api/vaults", "GET /api/vaults/{id}"], numbered),
  );
}

/** The history of a resource as it is stored. */
export async function storedHistory({ wire }: World, person: Person, res: string): Promise<string[]> {
  const [kind = "", id = ""] = res.split(":");
  const path =
    kind === "org"
      ? "/api/org/history"
      : kind === "folder"
        ? `/api/org/folders/${id}/history`
        : `/api/vaults/${id}/history`;
  const answer = await fetch(wire.target + path, {
    headers: { authorization: `Bearer ${person.session.access_token}` },
  });
  const { data } = (await answer.json()) as { data: string[] };
  return data;
}

/** Hands out a key of the attacker for a folder, sealed to the person or machine in the proper way. */
export function handOut(folder: string, key: Uint8Array, publicKey: string, more: Json = {}): Lie {
  return eachItem(folderLists, async (item) =>
    item["id"] !== folder
      ? item
      : {
          ...item,
          encrypted_key: await sealedKey(publicKey, key, contexts.sharedFolderKey(folder)),
          encrypted_key_alg: "jwe",
          ...more,
        },
  );
}

const sealed = (key: Uint8Array, bytes: Uint8Array, context: Context): Promise<string> => box(key, bytes, context);

/** Seals all values of a folder under this key, with content of the attacker; titles stay as they are. */
export function forgeSecrets(folder: string, key: Uint8Array, dek: Uint8Array, more: Json = {}): Lie {
  const forged = async (item: Json): Promise<Json> => {
    if (item["folder_id"] !== folder) return item;
    const uid = String(item["uid"]);
    const fields = { password: mark, username: mark };
    return {
      ...item,
      wrapped_dek: await sealed(key, dek, contexts.dek(uid)),
      data_encrypted: await sealed(dek, encodeSecret({ name: String(item["title"]), fields }), contexts.data(uid)),
      title_encrypted: await sealed(key, encodeText(String(item["title"])), contexts.title(uid)),
      ...more,
    };
  };
  const field = async (item: Json): Promise<Json> => {
    if (item["folder_id"] !== folder) return item;
    const uid = String(item["uid"] ?? item["secret_uid"]);
    return {
      ...item,
      value_encrypted: await sealed(key, encodeText(mark), contexts.field(uid, String(item["field"]))),
      title_encrypted: await sealed(key, encodeText(String(item["title"])), contexts.title(uid)),
      ...more,
    };
  };
  return all(eachItem(secretAnswers, forged), eachItem(["POST /api/sm/v1/notation"], field));
}

export const vaultAnswers = ["GET /api/vaults", "GET /api/vaults/{id}"];
export const recordAnswers = ["GET /api/vaults/{id}/records", "GET /api/vaults/{id}/records/{id}"];

/** Hands out a key of the attacker for a vault, sealed to the person in the proper way. */
export function handOutVault(vault: string, key: Uint8Array, publicKey: string, more: Json = {}): Lie {
  const context = contexts.vaultKey(vault);
  return eachItem(vaultAnswers, async (item) =>
    item["id"] !== vault
      ? item
      : { ...item, encrypted_key: await sealedKey(publicKey, key, context), encrypted_key_alg: "jwe", ...more },
  );
}

/**
 * Seals all records of a vault under this key, with content of the attacker, in answers and over
 * the sync channel.
 */
export function forgeRecords(vault: string, key: Uint8Array): Lie {
  const fields = encodeRecord({ name: mark, password: mark });
  const forged = async (item: Json): Promise<Json> =>
    item["vault_id"] === vault
      ? {
          ...item,
          encrypted_data: await sealed(key, fields, contexts.record(vault, String(item["id"] ?? item["record_id"]))),
        }
      : item;
  const synced = rewrite(["SYNC /api/sync/ws/sync_response"], async (body) => ({
    ...body,
    changes: await Promise.all((body["changes"] as Json[]).map(forged)),
  }));
  return all(eachItem(recordAnswers, forged), synced);
}

/** Repeats earlier responses to the same caller from before Mallory's removal. */
export function replay({ wire, exchangesBefore }: World, kinds: readonly string[]): Lie {
  const past = wire.exchanges.slice(0, exchangesBefore);
  return ({ from, path, method, query, answer }) => {
    if (!kinds.includes(kindOf({ method, path }))) return answer;
    const same = (one: Exchange): boolean => one.from === from && one.path === path && one.method === method;
    const last = past.findLast(
      (one) => same(one) && one.answer.status < 300 && (one.query === query || path.endsWith("/secrets")),
    );
    return last?.answer ?? answer;
  };
}
