import { readFile } from "node:fs/promises";
import { contexts, decodeText, unboxBound } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import t from "tap";
import type { HistoryFile, KeyringVector, VectorFile } from "../../../crypto/test/vectors/shapes.ts";
import { understoodHistory } from "../../src/histories/history-failure.ts";
import type { ReadEntries } from "../../src/histories/read-entries.ts";
import { walk } from "../../src/histories/walk.ts";
import type { ApiAnswer } from "../../src/http/transport.ts";
import type { PersonSession } from "../../src/index.ts";
import { readKeyring, sealKeyring } from "../../src/trust/keyring.ts";
import { emptyTrust, withTrusted } from "../../src/trust/trust-storage.ts";

// The published vectors whose reader is the SDK: what a device pinned, and the keyring.

const directory = new URL("../../../../docs/spec/vectors/", import.meta.url);
const load = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(`${name}.json`, directory), "utf8"));
const histories = (await load("history")) as HistoryFile;
const keyrings = (await load("keyring")) as VectorFile<KeyringVector>;
const userId = "01900000-0000-7000-8000-000000000001";

void t.test("a history is read on from a pin", async (t) => {
  const pinned = histories.vectors.filter(({ pin, organization }) => pin !== null && organization === null);
  t.ok(pinned.length > 5);
  for (const { name, error, res, entries, pin, state } of pinned) {
    if (pin === null) continue;
    const newest = entries.length === 0 ? null : entries.length - 1;
    const read: ReadEntries = (_res, after = -1) => Promise.resolve({ entries: entries.slice(after + 1), newest });
    const trusted = { pin, state: null, accepted: true };
    const walked = understoodHistory(walk(read, res as Resource, `user:${userId}`, trusted));
    if (error === null) t.match((await walked)?.state, { head: state?.head, name: state?.name }, name);
    else await t.rejects(walked, { code: error }, name);
  }
});

void t.test("a keyring is read as the vectors say, and no other is", async (t) => {
  const ofPersons = keyrings.vectors.filter(({ what }) => what === "keyring");
  t.ok(ofPersons.length > 9);
  for (const { name, error, user_key, id, version, sealed, content } of ofPersons) {
    const session = sessionOf(user_key, id);
    const answer: ApiAnswer = { status: 200, headers: new Headers(), body: { version, sealed } };
    const read = readKeyring(() => Promise.resolve(answer), session);
    if (error !== null || content === null) {
      await t.rejects(read, { code: "keyring_missing" }, name);
      continue;
    }
    const keyring = await read;
    t.strictSame({ pins: pairs(keyring.pins), accepted: keyring.accepted }, content, name);
    const record = trustOf(keyring.pins, keyring.accepted);
    const resealed = await sealKeyring(session, version, record);
    const opened = await unboxBound(Buffer.from(user_key, "hex"), resealed, contexts.keyring(id, version));
    t.strictSame(JSON.parse(decodeText(opened)), content, `${name}, written again`);
  }
});

/** A session has more than a keyring needs. */
function sessionOf(userKey: string, id: string): PersonSession {
  const session = { user_key: Buffer.from(userKey, "hex").toString("base64"), user: { id } };
  return session as unknown as PersonSession;
}

function pairs(pins: Record<string, { seq: number; hash: string }>): object {
  return Object.fromEntries(Object.entries(pins).map(([res, { seq, hash }]) => [res, [seq, hash]]));
}

function trustOf(pins: Record<string, { seq: number; hash: string }>, accepted: readonly string[]) {
  return Object.entries(pins).reduce(
    (record, [res, pin]) =>
      withTrusted(record, res as Resource, {
        pin,
        state: null,
        accepted: accepted.includes(res) || res.startsWith("org:"),
      }),
    emptyTrust(),
  );
}
