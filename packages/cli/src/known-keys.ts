import { join } from "node:path";
import type { ConfirmKey, KeyHolder, PersonSession } from "@coffer/sdk";
import { exitCodes, Failure } from "./failure.ts";
import { changeKnown, readKnown } from "./known-file.ts";
import { visible } from "./output.ts";
import { serviceKey } from "./same-service.ts";
import { askHidden } from "./terminal.ts";

/** How a public key that was not seen before may be confirmed, besides a person at the terminal. */
export interface ConfirmOptions {
  /** Fingerprints (hex or words) that were compared with their holders. */
  fingerprint?: string[];
  /** Takes keys that were not seen before. */
  trustNew?: boolean;
}

/**
 * Confirms the public keys that the service hands out, and remembers them: a key that was confirmed once is asked about
 * no more, and a holder whose key has changed since is refused whatever else is said. One's own key is known.
 * The returned function throws Failure: denied for a changed key, and where a fingerprint was given for any other; usage
 * without a terminal to ask at.
 */
export function confirmKey(directory: string, session: PersonSession, options: ConfirmOptions): ConfirmKey {
  const confirm = confirmKeys(directory, session, options);
  return (holder) => {
    if ((options.fingerprint ?? []).length > 0 && !isGiven(holder, options)) throw notGiven(holder);
    return confirm(holder);
  };
}

/**
 * The same where several keys are confirmed, each of which may be one of the fingerprints that were given.
 */
export function confirmKeys(directory: string, session: PersonSession, options: ConfirmOptions): ConfirmKey {
  const service = serviceKey(session.url);
  return async (holder) => {
    if (holder.kind === "user" && holder.id === session.user.id) {
      if (holder.public_key === session.public_key) return true;
      throw changed(holder, "your own");
    }
    const { hex } = holder.fingerprint;
    const known = (await readKnown(fileOf(directory)))[service]?.[holder.id];
    if (known === hex) return true;
    const given = isGiven(holder, options);
    if (known !== undefined && !given) throw changed(holder, "the one that was confirmed before");
    if (!given && options.trustNew !== true && !isConfirmed(holder)) return false;
    await remember(directory, service, holder.id, hex);
    return true;
  };
}

function isGiven({ fingerprint: { hex, words } }: KeyHolder, options: ConfirmOptions): boolean {
  const wanted = (options.fingerprint ?? []).map(plain);
  return wanted.includes(hex) || wanted.includes(plain(words));
}

function isConfirmed({ kind, name, fingerprint }: KeyHolder): boolean {
  const whose = `${kind === "user" ? "person" : "machine"} ${visible(name)}`;
  const [answer = ""] = askHidden(
    [
      `The public key of the ${whose} was not seen before. Its fingerprint is\n  ${fingerprint.words}\n` +
        `  ${fingerprint.hex}\nCompare it with its holder. Is it the same (yes or no)`,
    ],
    `compare the fingerprint of the ${whose} with its holder and give it with --fingerprint ${fingerprint.hex}`,
  );
  return ["y", "yes"].includes(answer.trim().toLowerCase());
}

function changed({ name, fingerprint }: KeyHolder, than: string): Failure {
  return new Failure(
    exitCodes.denied,
    `the service hands out another public key for ${visible(name)} than ${than}: nothing was shared. If it is right, ` +
      `compare the fingerprint with its holder and give it with --fingerprint ${fingerprint.hex}`,
  );
}

/** The key's own fingerprint is not shown: it would be pasted in the place of the one that was compared. */
function notGiven({ name }: KeyHolder): Failure {
  return new Failure(
    exitCodes.denied,
    `the fingerprint that you gave is not that of the public key which the service hands out for ${visible(name)}: nothing ` +
      "was shared. Ask its holder for the fingerprint that `coffer member key` prints there",
  );
}

/** Hex with any separators, or words in any case and spacing. */
function plain(fingerprint: string): string {
  const text = fingerprint.trim().toLowerCase();
  return /^[0-9a-f:\s]+$/.test(text) ? text.replace(/[:\s]/g, "") : text.split(/[\s-]+/).join(" ");
}

async function remember(directory: string, service: string, holder: string, hex: string): Promise<void> {
  await changeKnown(fileOf(directory), service, (known) => ({ ...known, [holder]: hex }));
}

/** Fingerprints in hex, by service and by holder. */
const fileOf = (directory: string): string => join(directory, "known-keys.json");
