import { auditVectors } from "./audit-vectors.ts";
import { boxVectors } from "./box-vectors.ts";
import { contextVectors } from "./context-vectors.ts";
import { exampleVectors } from "./example-vectors.ts";
import { historyVectors } from "./history-vectors.ts";
import { secretUidVectors, stableIdVectors } from "./id-vectors.ts";
import { joinVectors } from "./join-vectors.ts";
import { keyringVectors } from "./keyring-vectors.ts";
import { machineTokenVectors } from "./machine-token-vectors.ts";
import { opaqueVectors } from "./opaque-vectors.ts";
import { plaintextVectors } from "./plaintext-vectors.ts";
import { publicKeyVectors } from "./public-key-vectors.ts";
import { sealedVectors } from "./sealed-vectors.ts";
import { accessTokenVectors, derivationVectors, inviteTokenVectors, recoveryKeyVectors } from "./text-vectors.ts";

/** Where the published vectors lie. */
export const vectorDirectory = new URL("../../../../docs/spec/vectors/", import.meta.url);

/**
 * Files whose readers are other packages: packages/events, packages/history, packages/sdk and
 * deploy/local check them.
 */
export const checkedElsewhere: readonly string[] = [
  "audit.json",
  "example.json",
  "history.json",
  "join.json",
  "secret-uid.json",
];

/** Every published file by its name, as text: made with Node's primitives, without the package. */
export function vectorFiles(): Record<string, string> {
  const contents = {
    "access-token": accessTokenVectors(),
    audit: auditVectors(),
    box: boxVectors(),
    context: contextVectors(),
    derivation: derivationVectors(),
    example: exampleVectors(),
    history: historyVectors(),
    "invite-token": inviteTokenVectors(),
    join: joinVectors(),
    keyring: keyringVectors(),
    "machine-token": machineTokenVectors(),
    opaque: opaqueVectors(),
    plaintext: plaintextVectors(),
    "public-key": publicKeyVectors(),
    "recovery-key": recoveryKeyVectors(),
    sealed: sealedVectors(),
    "secret-uid": secretUidVectors(),
    "stable-id": stableIdVectors(),
  };
  return Object.fromEntries(
    Object.entries(contents).map(([name, file]) => [`${name}.json`, `${JSON.stringify(file, null, 2)}\n`]),
  );
}
