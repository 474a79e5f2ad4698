import type { ConfirmKey, KeyHolder } from "@coffer/sdk";
import { exitCodes, Failure } from "../failure.ts";
import { promptHidden } from "../input/terminal.ts";
import { printNotice, visible } from "../output/output.ts";

/** Confirms a public key that no history confirms, besides a prompt at the terminal. */
export interface ConfirmOptions {
  /** Fingerprints (hex or words) that were compared with their owners. */
  fingerprint?: string[];
}

/**
 * Confirms a public key by its fingerprint: one of the given ones, or one that the person at the
 * terminal has compared. `undone` says what the command has not done without a confirmation:
 * "production was not shared with the machine api". The returned function throws Failure: denied
 * when the key is not confirmed, usage without a terminal.
 */
export function compareWords(options: ConfirmOptions, undone: string): ConfirmKey {
  const confirm = compareWordsOfEach(options, undone);
  return async (holder) => {
    if (await confirm(holder)) return true;
    throw new Failure(exitCodes.denied, `the key of ${ownerOf(holder)} was not confirmed: ${visible(undone)}`);
  };
}

/** As `compareWords`, but skips a key that the person does not confirm. */
export function compareWordsOfEach({ fingerprint = [] }: ConfirmOptions, undone: string): ConfirmKey {
  const given = fingerprint.map(plain);
  return (holder) => {
    const { hex, words } = holder.fingerprint;
    const warning = warningOf(holder);
    if (given.length > 0 && warning !== undefined) printNotice(warning);
    if (given.includes(hex) || given.includes(plain(words))) return Promise.resolve(true);
    if (given.length > 0) throw notGiven(holder, undone);
    return Promise.resolve(isSaid(holder));
  };
}

function isSaid(holder: KeyHolder): boolean {
  const { words, hex } = holder.fingerprint;
  const whose = ownerOf(holder);
  const { role, folders = [] } = holder;
  const manages = role === "owner" || role === "admin" ? `, and may the person manage the organization as ${role}` : "";
  const granted = folders.map(({ name, permission }) => `${permission} in ${visible(name)}`).join(", ");
  const grants = granted === "" ? "" : `, and may the machine ${granted}`;
  const warning = warningOf(holder);
  return promptYesOrNo(
    `${warning === undefined ? "" : `${warning}\n`}The fingerprint of the key of ${whose} is\n  ${words}\n  ${hex}\nCompare it with its holder. Is it the same${manages}${grants}`,
    `compare the fingerprint of ${whose} with its holder and give it with --fingerprint`,
  );
}

/** What a history that goes back means; undefined for any other. */
function warningOf({ goes_back: back }: KeyHolder): string | undefined {
  if (back === undefined) return undefined;
  return (
    `The service shows ${back.shown} as the newest entry. It does not show the entry ${back.seen} that this device knows. ` +
    "Members who were removed since then would have access again. Confirm only after an announced restore."
  );
}

/** Prompts for yes or no. Throws Failure (usage), with `otherWays`, without a terminal. */
export function promptYesOrNo(question: string, otherWays: string): boolean {
  const [answer = ""] = promptHidden([`${question} (yes or no)`], otherWays);
  return ["y", "yes"].includes(answer.trim().toLowerCase());
}

/** Does not show the key's own fingerprint: a person could paste it instead of the compared one. */
function notGiven(holder: KeyHolder, undone: string): Failure {
  const there = holder.kind === "user" ? "coffer whoami" : "coffer whoami --config <file>";
  return new Failure(
    exitCodes.denied,
    `the fingerprint that you gave is not that of the key which the service shows for ${ownerOf(holder)}: ` +
      `${visible(undone)}. Compare with the fingerprint that \`${there}\` prints there`,
  );
}

/** The service chooses a machine's name; the client id identifies it. */
function ownerOf({ kind, id, name }: KeyHolder): string {
  return kind === "user" ? `the person ${visible(name)}` : `the machine ${visible(name)} (${visible(id)})`;
}

/** Hex with any separators, or words in any case and spacing. */
function plain(fingerprint: string): string {
  const text = fingerprint.trim().toLowerCase();
  return /^[0-9a-f:\s]+$/.test(text) ? text.replace(/[:\s]/g, "") : text.split(/[\s-]+/).join(" ");
}
