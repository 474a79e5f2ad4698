import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfirmKey, KeyHolder, PersonSession } from "@coffer/sdk";
import { makePrivateDirectory, writePrivateFile } from "@coffer/sdk/node";
import { exitCodes, Failure } from "./failure.ts";
import { withFileLock } from "./file-lock.ts";
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

/** Fingerprints in hex, by service and by holder. */
type KnownKeys = Record<string, Record<string, string>>;

/**
 * Confirms the public keys that the service hands out, and remembers them: a key that was confirmed once is asked about
 * no more, and a holder whose key has changed since is refused whatever else is said. One's own key is known.
 * The returned function throws Failure: denied for a changed key, usage without a terminal to ask at.
 */
export function confirmKeys(directory: string, session: PersonSession, options: ConfirmOptions): ConfirmKey {
  const wanted = (options.fingerprint ?? []).map(plain);
  const service = serviceKey(session.url);
  return async (holder) => {
    if (holder.kind === "user" && holder.id === session.user.id) {
      if (holder.public_key === session.public_key) return true;
      throw changed(holder, "your own");
    }
    const { hex, words } = holder.fingerprint;
    const known = (await readKnown(directory))[service]?.[holder.id];
    if (known === hex) return true;
    const given = wanted.includes(hex) || wanted.includes(plain(words));
    if (known !== undefined && !given) throw changed(holder, "the one that was confirmed before");
    if (!given && options.trustNew !== true && !isConfirmed(holder)) return false;
    await remember(directory, service, holder.id, hex);
    return true;
  };
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

/** Hex with any separators, or words in any case and spacing. */
function plain(fingerprint: string): string {
  const text = fingerprint.trim().toLowerCase();
  return /^[0-9a-f:\s]+$/.test(text) ? text.replace(/[:\s]/g, "") : text.split(/[\s-]+/).join(" ");
}

async function remember(directory: string, service: string, holder: string, hex: string): Promise<void> {
  await makePrivateDirectory(directory);
  await withFileLock(`${fileOf(directory)}.lock`, async () => {
    const known = await readKnown(directory);
    const changedKeys = { ...known, [service]: { ...known[service], [holder]: hex } };
    await writePrivateFile(fileOf(directory), `${JSON.stringify(changedKeys, null, 2)}\n`);
  });
}

async function readKnown(directory: string): Promise<KnownKeys> {
  const path = fileOf(directory);
  try {
    return JSON.parse(await readFile(path, "utf8")) as KnownKeys; // nothing else writes it
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Failure(exitCodes.failure, `${path} cannot be read: ${(error as Error).message}; move it away`);
  }
}

const fileOf = (directory: string): string => join(directory, "known-keys.json");
