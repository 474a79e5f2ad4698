import { join } from "node:path";
import { CofferError, isUuid } from "@coffer/sdk";
import { changeKnown, readKnown } from "./known-file.ts";

/**
 * What is known of somebody as a holder of a folder: confirmed as one, to be taken off the folder, or to be removed
 * altogether, by what was asked for here, whatever the service answered. Who holds a folder is the service's word, and this is
 * what the word is held against.
 */
export type Standing = "holder" | "taken off" | "removed";

/** A holder's standing in a folder; undefined when nothing is known of it. */
export async function standingOf(
  directory: string,
  service: string,
  folderId: string,
  holderId: string,
): Promise<Standing | undefined> {
  const known = (await readKnown(fileOf(directory)))[service] ?? {};
  return (known[inFolder(folderId, holderId)] ?? known[anywhere(holderId)]) as Standing | undefined; // nothing else writes it
}

/** Remembers somebody as a holder of a folder, whatever was known before. Of other folders it says nothing. */
export async function rememberHolder(
  directory: string,
  service: string,
  folderId: string,
  holderId: string,
): Promise<void> {
  const key = inFolder(folderId, holderId);
  await changeKnown(fileOf(directory), service, (known) => ({ ...known, [key]: "holder" }));
}

/** Remembers that some are to be holders of a folder no more. */
export async function rememberTakenOff(
  directory: string,
  service: string,
  folderId: string,
  holderIds: readonly string[],
): Promise<void> {
  const standings = Object.fromEntries(holderIds.map((id) => [inFolder(folderId, id), "taken off"]));
  await changeKnown(fileOf(directory), service, (known) => ({ ...known, ...standings }));
}

/**
 * Remembers that some are to hold nothing any more, of whatever organization: which one a folder is of is the service's word
 * as well.
 */
export async function rememberRemoved(directory: string, service: string, holderIds: readonly string[]): Promise<void> {
  const ids = holderIds.map(canonical);
  await changeKnown(fileOf(directory), service, (known) => {
    const folders = Object.keys(known).filter((key) => ids.some((id) => key.endsWith(` ${id}`)));
    return { ...known, ...Object.fromEntries([...folders, ...ids.map(anywhere)].map((key) => [key, "removed"])) };
  });
}

/** An id that the service said, as it is kept. Throws CofferError `bad_answer` for what is none: it may be anything. */
export function canonical(id: string): string {
  if (isUuid(id)) return id.toLowerCase();
  throw new CofferError("bad_answer", "the service names somebody or something by what is no id");
}

const inFolder = (folderId: string, holderId: string): string => `${canonical(folderId)} ${canonical(holderId)}`;

/** In place of a folder: all that nothing else is known of. */
const anywhere = (holderId: string): string => `* ${canonical(holderId)}`;

/** Standings by folder and holder, by service. */
const fileOf = (directory: string): string => join(directory, "known-holders.json");
