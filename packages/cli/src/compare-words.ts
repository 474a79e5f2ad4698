import type { ConfirmKey, KeyHolder } from "@coffer/sdk";
import { exitCodes, Failure } from "./failure.ts";
import { visible } from "./output.ts";
import { askHidden } from "./terminal.ts";

/** How a public key that no history confirms is confirmed, besides a person at the terminal. */
export interface ConfirmOptions {
  /** Fingerprints (hex or words) that were compared with their holders. */
  fingerprint?: string[];
}

/**
 * Confirms a public key by its fingerprint: one of those that were given, or one that the person at the terminal has compared.
 * The returned function throws Failure: denied when fingerprints were given and none is that of the key, usage without a
 * terminal to ask at.
 */
export function compareWords({ fingerprint = [] }: ConfirmOptions): ConfirmKey {
  const given = fingerprint.map(plain);
  return (holder) => {
    const { hex, words } = holder.fingerprint;
    if (given.includes(hex) || given.includes(plain(words))) return Promise.resolve(true);
    if (given.length > 0) throw notGiven(holder);
    return Promise.resolve(isSaid(holder));
  };
}

function isSaid(holder: KeyHolder): boolean {
  const { words, hex } = holder.fingerprint;
  const whose = `${holder.kind === "user" ? "person" : "machine"} ${visible(holder.name)}`;
  return askYesOrNo(
    `The fingerprint of the key of the ${whose} is\n  ${words}\n  ${hex}\nCompare it with its holder. Is it the same`,
    `compare the fingerprint of the ${whose} with its holder and give it with --fingerprint`,
  );
}

/** Whether the person at the terminal says yes. Throws Failure (usage), naming `otherWays`, without a terminal. */
export function askYesOrNo(question: string, otherWays: string): boolean {
  const [answer = ""] = askHidden([`${question} (yes or no)`], otherWays);
  return ["y", "yes"].includes(answer.trim().toLowerCase());
}

/** The key's own fingerprint is not shown: it would be pasted in the place of the one that was compared. */
function notGiven({ name }: KeyHolder): Failure {
  return new Failure(
    exitCodes.denied,
    `the fingerprint that you gave is not that of the public key which the service shows for ${visible(name)}: nothing was ` +
      "signed. Ask its holder for the fingerprint that `coffer whoami` prints there",
  );
}

/** Hex with any separators, or words in any case and spacing. */
function plain(fingerprint: string): string {
  const text = fingerprint.trim().toLowerCase();
  return /^[0-9a-f:\s]+$/.test(text) ? text.replace(/[:\s]/g, "") : text.split(/[\s-]+/).join(" ");
}
