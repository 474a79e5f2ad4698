import { decodeBase64Url, decodeText, encodeBase64, keyCheck, readAccessToken, readInviteToken } from "@coffer/crypto";
import { checkSigners, cutName, extend, extendAll, HistoryError, openInvitation, sign } from "@coffer/history";
import type { Holder, Resource } from "@coffer/history";
import type { HistoryFile, HistoryVector, JoinVector, VectorFile } from "../../../crypto/test/vectors/shapes.ts";

/** What came of one vector; `problem` is null where the package does what the vector says. */
export interface Checked {
  name: string;
  problem: string | null;
}

const fromHex = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Checks `history.json`, but for the vectors that are about a pin alone; runs in Node and in a browser. */
export async function checkHistories(file: HistoryFile): Promise<Checked[]> {
  const checked: Checked[] = [];
  for (const vector of file.vectors) {
    if (vector.pin !== null && vector.organization === null) continue;
    checked.push({ name: vector.name, problem: await problemOf(vector, () => read(vector)) });
  }
  for (const { res, name } of file.cut_names)
    checked.push({ name: `cut of ${res}`, problem: difference(await cutName(res as Resource), name) });
  for (const { key, res, ver, check } of file.key_checks)
    checked.push({
      name: `check ${ver} of ${res}`,
      problem: difference(await keyCheck(fromHex(key), res, ver), check),
    });
  return checked;
}

/** Checks `join.json`; runs in Node and in a browser. */
export async function checkJoins(file: VectorFile<JoinVector>): Promise<Checked[]> {
  const checked: Checked[] = [];
  for (const vector of file.vectors) {
    checked.push({ name: vector.name, problem: await problemOf(vector, () => join(vector)) });
  }
  return checked;
}

async function read(vector: HistoryVector): Promise<readonly [got: unknown, expected: unknown]> {
  const res = vector.res as Resource;
  const { state, hashes } = await extendAll(null, res, vector.entries);
  if (vector.organization !== null) {
    const organization = await extendAll(null, `org:${state.org}`, vector.organization);
    await checkSigners(organization.state, state, vector.pin, (seq) => Promise.resolve(hashes[seq]));
  }
  if (vector.key !== null && (await keyCheck(fromHex(vector.key), res, state.ver ?? 0)) !== state.check)
    throw new Error("key_mismatch");
  return [state, vector.state];
}

async function join(vector: JoinVector): Promise<readonly [got: unknown, expected: unknown]> {
  const [res, isMachine] = [vector.res as Resource, vector.text.startsWith("cft1_")];
  const { token, tokenHash, wrapKey } = await (isMachine ? readAccessToken : readInviteToken)(vector.text);
  const derived = [token, tokenHash, toHex(wrapKey)];
  const { state } = await extendAll(null, res, vector.entries);
  const invitation = state.invitations.find(({ tag }) => tag === tokenHash);
  const joinKey = await openInvitation(res, invitation, wrapKey);
  const set = [vector.holder as Holder];
  const written = await sign(state, res, `invite:${tokenHash}`, joinKey, { set });
  const published = await extend(state, res, vector.join ?? "");
  return [
    [...derived, encodeBase64(joinKey), signedPart(written.text), published],
    [vector.token, vector.tag, vector.wrap_key, vector.join_private_key, signedPart(vector.join ?? ""), vector.state],
  ];
}

/** The signature is random; what is signed is not. */
function signedPart(entry: string): string {
  return entry
    .split(".")
    .slice(0, 2)
    .map((part) => decodeText(decodeBase64Url(part)))
    .join(".");
}

async function problemOf(
  { error, seq }: { error: string | null; seq?: number | null },
  check: () => Promise<readonly [unknown, unknown]>,
): Promise<string | null> {
  let outcome: string | null = null;
  try {
    const [got, expected] = await check();
    if (error === null) return difference(got, expected);
  } catch (thrown) {
    outcome = thrown instanceof HistoryError ? thrown.code : String(thrown).replace(/^Error: /, "");
    const at = thrown instanceof HistoryError ? (thrown.seq ?? null) : null;
    if (outcome === error && seq !== undefined && at !== seq)
      return `entry ${at}, expected entry ${seq}: ${String(thrown)}`;
  }
  return outcome === error ? null : `${outcome ?? "accepted"}, expected ${error ?? "success"}`;
}

/** Compares two values as JSON, whatever the order of their members. */
function difference(got: unknown, expected: unknown): string | null {
  return ordered(got) === ordered(expected) ? null : `got ${ordered(got)}`;
}

function ordered(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
