import { keyCheck } from "@coffer/crypto";
import { memoryTrust } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../npm-start.ts";
import { newScene } from "./attack.ts";
import { claimsOf } from "./attacker.ts";
import { all, forgeSecrets, handOut, type Json, storedHistory } from "./lies.ts";
import { limits } from "./limits.ts";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";
import { saidOf } from "./step.ts";
import { createWire, type Lie } from "./wire.ts";
import type { Person } from "./world.ts";

// Attacks on people by a server that works with a removed manager (Mallory), a present reader (Rita) and a stolen machine.
// Each names the allowed errors of the client; the oracle decides whether anything was printed, encrypted
// or sealed wrongly.

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
export const wire = createWire(url);
export const scene = await newScene(wire);
export const { world } = scene;
export const { attacker, people, folders, oldKeys } = world;
export const { olivia, anna, bob, rita, mallory } = people;
export const idOf = ({ session }: Person): string => session.user.id;
export const by = (person: Person): string => `user:${idOf(person)}`;
export const production = `folder:${folders.production}`;
export const org = `org:${world.org}`;
const password = "coffer://production/database/field/password";

/** The actions of a reader and writer of production. */
export const reads =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    const value = await stage.person(who).secrets.read(password);
    return [{ kind: "value", folder: folders.production, title: "database", field: "password", value }];
  };
export const lists =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> =>
    saidOf(await stage.person(who).secrets.list("production"));
export const writes =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    world.truth.value(folders.production, "database", "password", `written in run ${stage.run}`);
    await stage.person(who).secrets.set(password, `written in run ${stage.run}`);
    return [];
  };
export const rotates =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    await stage.person(who).folders.rotate(folders.production);
    return [];
  };
export const shares =
  (holder: () => string) =>
  async (stage: Stage): Promise<Said[]> => {
    await stage.person(olivia).folders.share(folders.staging, { userId: holder(), permission: "read" });
    return [];
  };
/** On a device with this trust. */
const onDevice = (trust: Person["trust"], person: Person): Person => ({ ...person, trust });
export const before = (person: Person): Person => {
  const record = world.before.get(person.name);
  if (record === undefined) throw new Error(`nothing is known of ${person.name}'s device`);
  return onDevice(memoryTrust(record), person);
};

export const history = await storedHistory(world, olivia, production);
export const orgHistory = await storedHistory(world, olivia, org);
export const newest = history.length - 1;

/** The number of entries before the rotation that ends this version of the key. */
export function endOfVersion(version: number): number {
  return history.findIndex((entry) => claimsOf(entry).ver === version + 1);
}

/** The claims of a rotation to a key of the attacker. */
export const rotation = async (res: string, ver: number): Promise<object> => ({
  ver,
  check: await keyCheck(attacker.key, res, ver),
});
export const version = 3;

/** The attacker's key for production, and every value of the folder sealed under it. */
export const replaced = (who: Person, more: Json = {}): Lie =>
  all(
    handOut(folders.production, attacker.key, who.publicKey, more),
    forgeSecrets(folders.production, attacker.key, attacker.dek, more),
  );

/** A device without pins, with the person's keyring. */
export function newDeviceReads(who: Person) {
  return async (stage: Stage): Promise<Said[]> => saidOf(await stage.newDevice(who).secrets.list("production"));
}
