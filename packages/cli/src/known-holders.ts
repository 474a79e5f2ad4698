import { join } from "node:path";
import { changeKnown, readKnown } from "./known-file.ts";

/**
 * What is known of somebody as a holder of a folder: confirmed as one, taken off the folder here, or removed here
 * altogether. Who holds a folder is the service's word, and this is what the word is held against.
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
  return (known[removed(holderId)] ?? known[`${folderId} ${holderId}`]) as Standing | undefined; // nothing else writes it
}

/** Remembers somebody as a holder of a folder, whatever was known before. */
export async function rememberHolder(
  directory: string,
  service: string,
  folderId: string,
  holderId: string,
): Promise<void> {
  await changeKnown(fileOf(directory), service, (known) => {
    const others = Object.entries(known).filter(([key]) => key !== removed(holderId));
    return { ...Object.fromEntries(others), [`${folderId} ${holderId}`]: "holder" };
  });
}

/** Remembers that somebody was taken off a folder. */
export async function rememberTakenOff(
  directory: string,
  service: string,
  folderId: string,
  holderId: string,
): Promise<void> {
  await changeKnown(fileOf(directory), service, (known) => ({ ...known, [`${folderId} ${holderId}`]: "taken off" }));
}

/** Remembers that some were removed: whatever they held before, they are to hold no more. */
export async function rememberRemoved(directory: string, service: string, holderIds: readonly string[]): Promise<void> {
  await changeKnown(fileOf(directory), service, (known) => {
    const others = Object.entries(known).filter(([key]) => !holderIds.some((id) => key.endsWith(` ${id}`)));
    return Object.fromEntries([...others, ...holderIds.map((id) => [removed(id), "removed"] as const)]);
  });
}

/** In place of a folder: all of them. */
const removed = (holderId: string): string => `* ${holderId}`;

/** Standings by folder and holder, by service. */
const fileOf = (directory: string): string => join(directory, "known-holders.json");
