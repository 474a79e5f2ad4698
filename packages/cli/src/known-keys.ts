import { join } from "node:path";
import { isUuid } from "@coffer/sdk";
import type { ConfirmKey, KeyHolder, PersonSession } from "@coffer/sdk";
import { exitCodes, Failure } from "./failure.ts";
import { changeKnown, readKnown } from "./known-file.ts";
import { canonical, rememberHolder, standingOf } from "./known-holders.ts";
import type { Standing } from "./known-holders.ts";
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
 * Confirms the public key of somebody whom the caller has named, by the e-mail that is the holder's `name`. A key that was
 * confirmed once is asked about no more, as long as it comes for the same e-mail: which id an e-mail has is the service's
 * word. A holder whose key has changed since, and an e-mail that comes with another key, are refused whatever else is said.
 * One's own key is known. With a folder the holder is remembered as one of that folder.
 * The returned function throws Failure: denied for a changed key, and where a fingerprint was given for any other; usage
 * without a terminal to ask at.
 */
export function confirmKey(
  directory: string,
  session: PersonSession,
  options: ConfirmOptions,
  folderId?: string,
): ConfirmKey {
  return (holder) => {
    if ((options.fingerprint ?? []).length > 0 && !isGiven(holder, options)) throw notGiven(holder);
    return isConfirmed({ directory, session, options, folderId, listed: false }, holder);
  };
}

/**
 * The same for the holders that the service lists of a folder, each of whose keys may be one of the fingerprints that were
 * given. The list is the service's word too: who was not confirmed as a holder of this folder is asked about, though the key
 * be known, and so is, whatever else is said, a person who is no member. `emails` are those of the members, by their ids.
 */
export function confirmKeys(
  directory: string,
  session: PersonSession,
  options: ConfirmOptions,
  folderId: string,
  emails: ReadonlyMap<string, string>,
): ConfirmKey {
  return (holder) => {
    const { kind, id, name } = holder;
    const asking = { directory, session, options, folderId, listed: true };
    if (kind === "client") return isConfirmed(asking, holder);
    const email = emails.get(id);
    // What the service calls somebody who is no member would pass for another one's e-mail.
    if (email === undefined) return isConfirmed({ ...asking, stranger: true }, { ...holder, name: `${name} (${id})` });
    return isConfirmed(asking, { ...holder, name: email });
  };
}

/**
 * The ids under which the key of a person was confirmed who is named by id or e-mail: also of one whom the service leaves out
 * of its list.
 */
export async function confirmedAs(directory: string, service: string, idOrEmail: string): Promise<string[]> {
  const text = idOrEmail.toLowerCase();
  if (isUuid(text)) return [text];
  const known = (await readKnown(fileOf(directory)))[service] ?? {};
  return Object.keys(known).filter((id) => labelIn(known[id] ?? "") === `user ${text}`);
}

/** Makes the keys of these holders such as were not seen before. */
export async function forgetKeys(directory: string, service: string, holderIds: readonly string[]): Promise<void> {
  await changeKnown(fileOf(directory), service, (known) =>
    Object.fromEntries(Object.entries(known).filter(([id]) => !holderIds.includes(id))),
  );
}

interface Asking {
  directory: string;
  session: PersonSession;
  options: ConfirmOptions;
  folderId: string | undefined;
  /** Whether the service says who the holders are, and not the caller. */
  listed: boolean;
  /** Whether it says so of a person whom it does not show as a member. */
  stranger?: boolean;
}

/** Why a key is asked about. */
interface Doubt {
  why: string;
  /** Nothing speaks against it but that it is new. */
  isNew: boolean;
}

async function isConfirmed(asking: Asking, shown: KeyHolder): Promise<boolean> {
  const { directory, session, options, folderId, listed, stranger = false } = asking;
  if (shown.kind === "user" && shown.id === session.user.id) {
    if (shown.public_key === session.public_key) return true;
    throw changed(shown, "your own");
  }
  const holder = { ...shown, id: canonical(shown.id) };
  const service = serviceKey(session.url);
  const known = (await readKnown(fileOf(directory)))[service] ?? {};
  const standing = folderId === undefined ? undefined : await standingOf(directory, service, folderId, holder.id);
  const given = isGiven(holder, options);
  if (!given) refuseChanged(known, holder);
  const doubt =
    (listed ? takenAway(holder, standing) : undefined) ??
    (stranger ? noMember(holder) : undefined) ??
    doubtOfKey(known, holder) ??
    (listed && standing === undefined ? onlyListed(holder) : undefined);
  if (doubt !== undefined && !given && !(doubt.isNew && options.trustNew === true) && !isSaid(holder, doubt.why))
    return false;
  if (known[holder.id] !== pinOf(holder)) await rememberKey(directory, service, holder);
  if (folderId !== undefined && standing !== "holder") await rememberHolder(directory, service, folderId, holder.id);
  return true;
}

/** Throws Failure (denied) for another key than the one that was confirmed for this holder, or for this e-mail. */
function refuseChanged(known: Record<string, string>, holder: KeyHolder): void {
  const { hex } = holder.fingerprint;
  const pin = known[holder.id];
  if (pin !== undefined && fingerprintIn(pin) !== hex) throw changed(holder, "the one that was confirmed before");
  // Another account under an e-mail that is known. Machines may share a name.
  const sameEmail = Object.values(known).filter((one) => holder.kind === "user" && labelIn(one) === labelOf(holder));
  if (sameEmail.some((one) => fingerprintIn(one) !== hex))
    throw changed(holder, "the one that was confirmed for this e-mail before");
}

function doubtOfKey(known: Record<string, string>, holder: KeyHolder): Doubt | undefined {
  const pin = known[holder.id];
  if (pin === undefined) return { why: `The public key of the ${whose(holder)} was not seen before.`, isNew: true };
  if (pin === pinOf(holder)) return undefined;
  const label = labelIn(pin);
  if (label === "") {
    const why = `The public key of the ${whose(holder)} was confirmed before, but not kept with it whose it was.`;
    return { why, isNew: true };
  }
  const before = label.replace(/^user /, "person ").replace(/^client /, "machine ");
  const why = `The public key that comes for the ${whose(holder)} was confirmed as that of the ${visible(before)}.`;
  return { why, isNew: false };
}

/** Who was to be taken away from a folder and is listed all the same. */
function takenAway(holder: KeyHolder, standing: Standing | undefined): Doubt | undefined {
  if (standing !== "taken off" && standing !== "removed") return undefined;
  const what = standing === "removed" ? "was to be removed here" : "was to be taken off this folder here";
  return { why: `The ${whose(holder)} ${what}, and the service lists it as a holder.`, isNew: false };
}

/** A service that is honest takes the folders from who is a member no more. */
function noMember(holder: KeyHolder): Doubt {
  return { why: `The service lists the ${whose(holder)} as a holder, and not as a member.`, isNew: false };
}

function onlyListed(holder: KeyHolder): Doubt {
  const why = `That the ${whose(holder)} holds this folder was not confirmed here before: it is the service's word.`;
  return { why, isNew: true };
}

function isGiven({ fingerprint: { hex, words } }: KeyHolder, options: ConfirmOptions): boolean {
  const wanted = (options.fingerprint ?? []).map(plain);
  return wanted.includes(hex) || wanted.includes(plain(words));
}

/** Whether the person at the terminal says so. */
function isSaid(holder: KeyHolder, why: string): boolean {
  const { words, hex } = holder.fingerprint;
  const [answer = ""] = askHidden(
    [
      `${why} The key's fingerprint is\n  ${words}\n  ${hex}\n` +
        "Compare it with its holder. Is it the same, and is that who you mean (yes or no)",
    ],
    `compare the fingerprint of the ${whose(holder)} with its holder and give it with --fingerprint ${hex}`,
  );
  return ["y", "yes"].includes(answer.trim().toLowerCase());
}

function whose({ kind, name }: KeyHolder): string {
  return `${kind === "user" ? "person" : "machine"} ${visible(name)}`;
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

/** An e-mail has one key: what was known of it under another id is forgotten. */
async function rememberKey(directory: string, service: string, holder: KeyHolder): Promise<void> {
  await changeKnown(fileOf(directory), service, (known) => {
    const others = Object.entries(known).filter(
      ([, pin]) => holder.kind !== "user" || labelIn(pin) !== labelOf(holder),
    );
    return { ...Object.fromEntries(others), [holder.id]: pinOf(holder) };
  });
}

/** What is remembered of a key: its fingerprint in hex, and whose it is. Earlier versions kept the fingerprint alone. */
function pinOf(holder: KeyHolder): string {
  return `${holder.fingerprint.hex} ${labelOf(holder)}`;
}

function labelOf({ kind, name }: KeyHolder): string {
  return `${kind} ${name}`;
}

function fingerprintIn(pin: string): string {
  return pin.split(" ", 1)[0] ?? "";
}

function labelIn(pin: string): string {
  return pin.slice(fingerprintIn(pin).length + 1);
}

/** Pins by holder, by service. */
const fileOf = (directory: string): string => join(directory, "known-keys.json");
