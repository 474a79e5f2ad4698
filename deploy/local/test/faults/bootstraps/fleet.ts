import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { newId } from "@coffer/crypto";
import { type Caller, demand, machineCaller } from "../caller.ts";
import { type Deed, type Ledger, newDeed } from "../ledger.ts";
import { bodyOf, newUid } from "../secrets/workers.ts";

/** An application whose machines come while parts fail, and the one secret that they read. */
export interface Fleet {
  applicationId: string;
  folderId: string;
  uid: string;
  content: string;
  machines: Machine[];
}

/** A machine with the values that it saved before it spent its token. */
export interface Machine {
  /** Of its token too: both are found by it. */
  clientId: string;
  /** base64 of the SPKI DER. */
  publicKey: string;
  caller: Caller;
  token: string;
  tokenHash: string;
  /** The folder's key, sealed for this token. */
  sealedKey: string;
  /** The creation of its token. */
  issued: Deed;
  /** Its bootstrap. */
  spent: Deed;
}

/** A fleet without machines, with its own folder. */
export async function newFleet(url: string, person: Caller): Promise<Fleet> {
  const make = (path: string, body: object) =>
    demand(url, { method: "POST", path, body, bearer: person.bearer() }) as Promise<{ id: string }>; // as described
  const [uid, content] = [newUid(), opaque()];
  const folder = await make("/api/org/folders", { name: "fleet", encrypted_key: opaque() });
  const application = await make("/api/org/applications", { name: "fleet" });
  await make(`/api/org/folders/${folder.id}/secrets`, { ...bodyOf(uid, content), uid, record_type: "note" });
  return { applicationId: application.id, folderId: folder.id, uid, content, machines: [] };
}

/** A machine before it gets a token. */
export function newMachine(url: string, { folderId }: Fleet, ledger: Ledger): Machine {
  const clientId = newId();
  const token = randomBytes(32).toString("base64url");
  const { privateKey: key, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    clientId,
    publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    caller: machineCaller({ clientId, key }, url, folderId),
    token,
    tokenHash: createHash("sha256").update(token).digest("hex"),
    sealedKey: opaque(),
    issued: newDeed(ledger, "token.issued", null),
    spent: newDeed(ledger, "client.bootstrapped", clientId),
  };
}

/** Looks like ciphertext. */
function opaque(): string {
  return randomBytes(48).toString("base64");
}
