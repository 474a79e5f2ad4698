import type { Actor } from "./actor.ts";
import type { Oracle } from "./oracle.ts";
import type { Device, Machine, Person, Setting } from "./people.ts";
import type { Res } from "./truth.ts";

/** One organization with its people, machines and objects. */
export interface Scene extends Setting {
  oracle: Oracle;
  people: Person[];
  machines: Machine[];
  /** Unspent one-time tokens. */
  tokens: string[];
  invitations: { person: Person; token: string }[];
  /** The value that an actor writes now. */
  writing: Map<Actor, { value: string; title: string }>;
  org(): Res;
  owner(): Person;
  applicationId(): string;
  /** Whether the organization's stored history names a person who was not removed. */
  isMember(who: string): boolean;
  wasRemoved(who: string): boolean;
  /** Whether a removed person still manages the folder by its history, before its rotation. */
  isExposed(res: Res): boolean;
  nextValue(): string;
  /** Ends a person's travel mode without a client. */
  atHome(owner: Device, userId: string): Promise<void>;
  /** Makes a folder without a history, as an old program does; undefined if it may not. */
  olderFolder(person: Person, name: string): Promise<string | undefined>;
  /** A token that the service makes itself. */
  serviceToken(person: Person, folders: { folderId: string; permission: string }[]): Promise<string>;
}
