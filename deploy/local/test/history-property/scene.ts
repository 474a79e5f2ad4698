import type { Actor } from "./actor.ts";
import type { Oracle } from "./oracle.ts";
import type { Device, Machine, Person, Setting } from "./people.ts";
import type { Res } from "./truth.ts";

/** One organization with its people and machines, and what they have at hand. */
export interface Scene extends Setting {
  oracle: Oracle;
  people: Person[];
  machines: Machine[];
  /** One-time tokens that are not spent. */
  tokens: string[];
  invitations: { person: Person; token: string }[];
  /** What an actor writes now. */
  writing: Map<Actor, { value: string; title: string }>;
  org(): Res;
  owner(): Person;
  applicationId(): string;
  /** Whether the organization's history, as the service has it, names a person who was not removed. */
  isMember(who: string): boolean;
  wasRemoved(who: string): boolean;
  /** Whether somebody who was removed still manages the folder by its history: it is yet to be rotated. */
  isExposed(res: Res): boolean;
  nextValue(): string;
  /** Ends the travel mode of a person, past the clients. */
  atHome(owner: Device, userId: string): Promise<void>;
  /** Makes a folder without a history, as a program does that knows none; undefined when it may not. */
  olderFolder(person: Person, name: string): Promise<string | undefined>;
  /** A token that the service makes itself. */
  serviceToken(person: Person, folders: { folderId: string; permission: string }[]): Promise<string>;
}
