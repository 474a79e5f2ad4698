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
 * `undone` says what the command has not done when the key is not confirmed: "production was not shared with the machine api".
 * The returned function throws Failure: denied when the key is not confirmed, usage without a terminal to ask at.
 */
export function compareWords(options: ConfirmOptions, undone: string): ConfirmKey {
  const confirm = compareWordsOfEach(options, undone);
  return async (holder) => {
    if (await confirm(holder)) return true;
    throw new Failure(exitCodes.denied, `the key of ${ownerOf(holder)} was not confirmed: ${visible(undone)}`);
  };
}

/** Confirms as `compareWords`, but a key that the person at the terminal does not confirm is left out and stops nothing. */
export function compareWordsOfEach({ fingerprint = [] }: ConfirmOptions, undone: string): ConfirmKey {
  const given = fingerprint.map(plain);
  return (holder) => {
    const { hex, words } = holder.fingerprint;
    if (given.includes(hex) || given.includes(plain(words))) return Promise.resolve(true);
    if (given.length > 0) throw notGiven(holder, undone);
    return Promise.resolve(isSaid(holder));
  };
}

function isSaid(holder: KeyHolder): boolean {
  const { words, hex } = holder.fingerprint;
  const whose = ownerOf(holder);
  const { role } = holder;
  const manages = role === "owner" || role === "admin" ? `, and may the person manage the organization as ${role}` : "";
  return askYesOrNo(
    `The fingerprint of the key of ${whose} is\n  ${words}\n  ${hex}\nCompare it with its holder. Is it the same${manages}`,
    `compare the fingerprint of ${whose} with its holder and give it with --fingerprint`,
  );
}

/** Whether the person at the terminal says yes. Throws Failure (usage), naming `otherWays`, without a terminal. */
export function askYesOrNo(question: string, otherWays: string): boolean {
  const [answer = ""] = askHidden([`${question} (yes or no)`], otherWays);
  return ["y", "yes"].includes(answer.trim().toLowerCase());
}

/** The key's own fingerprint is not shown: it would be pasted in the place of the one that was compared. */
function notGiven(holder: KeyHolder, undone: string): Failure {
  const there = holder.kind === "user" ? "coffer whoami" : "coffer whoami --config <file>";
  return new Failure(
    exitCodes.denied,
    `the fingerprint that you gave is not that of the key which the service shows for ${ownerOf(holder)}: ` +
      `${visible(undone)}. Compare with the fingerprint that \`${there}\` prints there`,
  );
}

/** A machine's name is the service's word: its client id is what tells two machines apart. */
function ownerOf({ kind, id, name }: KeyHolder): string {
  return kind === "user" ? `the person ${visible(name)}` : `the machine ${visible(name)} (${visible(id)})`;
}

/** Hex with any separators, or words in any case and spacing. */
function plain(fingerprint: string): string {
  const text = fingerprint.trim().toLowerCase();
  return /^[0-9a-f:\s]+$/.test(text) ? text.replace(/[:\s]/g, "") : text.split(/[\s-]+/).join(" ");
}
