import { randomUUID } from "node:crypto";
import { box, contexts, encodeBase64, newKey, newKeyPair } from "@coffer/crypto";
import { CofferError } from "@coffer/sdk";
import { createRandom, type Random } from "@coffer/testkit";
import type { Actor } from "./actor.ts";
import { createAttacker } from "./attacker.ts";
import type { Deed } from "./deed.ts";
import { chooseDeed, isRight, misledDeeds } from "./deeds.ts";
import { createLiar } from "./liar.ts";
import type { Lie } from "./lie.ts";
import { createOracle, type Identity } from "./oracle.ts";
import { type Device, type Machine, newDevice, newPerson, type Person } from "./people.ts";
import { answerOf } from "./patience.ts";
import { recover } from "./recovery.ts";
import type { Scene } from "./scene.ts";
import { createTruth, sealedName, type Who } from "./truth.ts";

export interface World {
  readonly violations: readonly string[];
  /** The last steps, to find the reason of a violation. */
  readonly trace: readonly string[];
  /** The count of each outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  /**
   * Runs steps of people and machines, sometimes concurrently; with `lying` the service lies to
   * some of them.
   */
  step(lying: boolean): Promise<void>;
  /** The service is honest again: every holder of a folder must read its secrets and write. */
  recover(): Promise<void>;
}

const names = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"];
const traceLength = 80;

/** An organization at a running installation, whose service lies by the seed. */
export async function createWorld(url: string, seed: number): Promise<World> {
  const truth = createTruth();
  const identities = new Map<Who, Identity>();
  const strangers = await Promise.all(
    (["user", "client"] as const).map(async (kind) => ({
      who: `${kind}:${randomUUID()}` as const,
      ...(await newKeyPair()),
    })),
  );
  for (const one of strangers) identities.set(one.who, one);
  const writing: Scene["writing"] = new Map();
  const oracle = createOracle({ truth, identities, strangers, writing });
  const people: Person[] = [];
  const machines: Machine[] = [];
  const [orgId, values] = [{ id: "", application: "" }, { count: 0 }];

  const accomplices = (): Identity[] => {
    const dropped = [...truth.folders(), ...truth.vaults()].flatMap((res) => {
      const { holders, dropped: gone } = truth.newest(res) ?? {};
      return [...(gone?.keys() ?? [])].filter((who) => holders?.has(who) !== true);
    });
    return people.filter(({ who, corrupt }) => corrupt || truth.removed.has(who) || dropped.includes(who));
  };
  const attacker = createAttacker({ truth, strangers, accomplices });
  const org = () => `org:${orgId.id}` as const;
  const liar = createLiar({
    ...{ truth, oracle, attacker, url },
    org: () => orgId.id,
    isExposed: (res) => scene.isExposed(res),
  });
  const trace: string[] = [];
  const outcomes = new Map<string, number>();

  const scene: Scene = {
    ...{ url, truth, oracle, people, machines, writing, org, tokens: [], invitations: [] },
    fetchFor: (actor) => liar.fetchFor(actor),
    isRight: (id, publicKey) =>
      [...identities.values(), ...machines].some(
        (one) =>
          one.who.endsWith(`:${id}`) && one.publicKey === publicKey && !strangers.some(({ who }) => who === one.who),
      ),
    owner: () => people[0] as Person,
    applicationId: () => orgId.application,
    isMember: (who) => truth.newest(org())?.holders.has(who as Who) === true && !truth.removed.has(who as Who),
    wasRemoved: (who) => truth.removed.has(who as Who),
    isExposed: (res) =>
      [...(truth.newest(res)?.holders ?? [])].some(([who, { perm }]) => perm === "manage" && truth.removed.has(who)),
    nextValue: () => `value-${(values.count += 1)}`,
    async atHome(owner, userId) {
      await raw(owner.person, "PUT", `/api/org/members/${userId}/travel-mode`, { enabled: false });
    },
    async olderFolder(person, name) {
      const [id, key] = [randomUUID(), newKey()];
      const encrypted_key = await box(person.userKey as Uint8Array, key, contexts.folderKey(id));
      const made = await raw(person, "POST", "/api/org/folders", { id, name, encrypted_key, key_version: 1 });
      if (made === undefined) return undefined;
      truth.noteKey(encodeBase64(key), `folder:${id}`, 1, person.who);
      truth.sealed.set(sealedName(`folder:${id}`, 1, person.who), { encrypted_key, encrypted_key_alg: "box-user" });
      return id;
    },
    async serviceToken(person, folders) {
      const path = `/api/org/applications/${orgId.application}/tokens`;
      const granted = folders.map(({ folderId, permission }) => ({ folder_id: folderId, permission }));
      const made = await raw(person, "POST", path, { name: "made by the service", folders: granted });
      if (made === undefined) throw new CofferError("access_denied", "the service makes no token");
      return String(made["token"]);
    },
  };

  const raw = async (
    { keeper, devices }: Person,
    method: string,
    path: string,
    body?: object,
  ): Promise<Record<string, unknown> | undefined> => {
    // Renews the session when it is time.
    await devices[0]?.client.account();
    const { access_token: token } = await keeper.current();
    const answer = await answerOf(() =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    return answer.ok ? ((await answer.json()) as Record<string, unknown>) : undefined;
  };

  const add = async (name: string, corrupt = false): Promise<Device> => {
    const person = await newPerson(scene, `${name}-${randomUUID().slice(0, 8)}@example.com`, corrupt);
    people.push(person);
    identities.set(person.who, person);
    return newDevice(scene, person);
  };

  const alice = await add("alice");
  for (const name of names.slice(1)) await add(name);
  const mallory = await add("mallory", true);
  orgId.id = (await alice.client.organizations.create("Example")).id;
  orgId.application = (await alice.client.applications.create("api")).id;
  const join = async ({ person, client }: Device, role: "admin" | "member"): Promise<void> => {
    const { token } = await alice.client.invites.create(person.email, role);
    await client.invites.accept(token);
  };
  const [, bob, carol, dave] = people.map(({ devices }) => devices[0] as Device);
  await join(bob as Device, "admin");
  await join(carol as Device, "member");
  await join(dave as Device, "member");
  await join(mallory, "member");
  const first = await alice.client.folders.create("production");
  const shareWith = async (device: Device | undefined, permission: "read" | "manage"): Promise<void> => {
    const userId = device?.person.session.user.id ?? "";
    await alice.client.folders.share(first.id, { userId, permission });
    device?.accepted.add(`folder:${first.id}`);
    await device?.client.folders.accept(first.id);
  };
  await shareWith(bob, "manage");
  await shareWith(carol, "manage");
  await shareWith(mallory, "read");
  const team = await alice.client.vaults.create("team", { type: "shared" });
  for (const [device, permission] of [
    [bob, "manage"],
    [carol, "manage"],
    [mallory, "read"],
  ] as const) {
    const userId = device?.person.session.user.id ?? "";
    await alice.client.vaults.share(team.id, { userId, permission });
    device?.accepted.add(`vault:${team.id}`);
    await device?.client.vaults.accept(team.id);
  }

  /** A machine's keys are known once it has made them. */
  const register = (actor: Actor): void => {
    if (actor.who === "client:none" || identities.has(actor.who)) return;
    identities.set(actor.who, { who: actor.who, publicKey: actor.publicKey, privateKey: actor.privateKey });
  };

  const perform = async (number: number, { name, actor, run }: Deed, lies: readonly Lie[]): Promise<void> => {
    actor.lies = lies;
    const lying = lies.map((lie) => lie.name).join("; ");
    let outcome = "done";
    try {
      await run();
    } catch (error) {
      const hasEnded = error instanceof TypeError && error.message === "the process has ended";
      outcome = error instanceof CofferError ? error.code : hasEnded ? "ended" : "undocumented";
      if (outcome === "undocumented")
        oracle.violation(actor, `fails in a way that is not documented: ${(error as Error).stack ?? String(error)}`);
      if (hasEnded || outcome === "network") restart(actor);
    }
    actor.lies = [];
    register(actor);
    oracle.inspect(actor);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    trace.push(`${number} ${actor.name}: ${name} (${lying === "" ? "honest" : lying}): ${outcome}`);
    if (trace.length > traceLength) trace.shift();
  };

  const restart = (actor: Actor): void => (actor as Device | Machine).restart();

  const liesFor = async (random: Random, { actor, name, res }: Deed, lying: boolean): Promise<Lie[]> => {
    const crashes = (name === "bootstrap" || name === "join") && random.below(3) === 0;
    const crash = crashes ? [liar.crash(random.below(10))] : [];
    return lying && random.below(5) < 3 ? [...crash, ...(await liar.lies(random, actor, name, res))] : crash;
  };

  /** The next actions of deceived actors, with the continued lie. */
  const misled: Deed[] = [];
  const fallen = new Set<string>();
  const noteMisled = (random: Random, { actor }: Deed): void => {
    const deeds = misledDeeds(scene, random, actor);
    const name = `${actor.name} ${JSON.stringify([...actor.seen.values()])}`;
    if (deeds.length === 0 || fallen.has(name)) return;
    fallen.add(name);
    misled.push(...deeds);
  };

  let [steps, lied] = [0, false];
  return {
    violations: oracle.violations,
    trace,
    outcomes,
    async step(lying) {
      steps += 1;
      lied ||= lying;
      const random = createRandom(Math.imul(seed, 1_000_003) + steps);
      const next = misled.shift();
      if (next !== undefined) {
        await perform(steps, next, await liar.goOn(next.actor));
        return;
      }
      const deeds: Deed[] = [];
      for (let count = random.pick([1, 1, 1, 2, 3]); count > 0; count -= 1) {
        const deed = chooseDeed(scene, random);
        if (deed !== undefined && deeds.every(({ actor }) => actor !== deed.actor)) deeds.push(deed);
      }
      const planned: [Deed, Lie[]][] = [];
      for (const deed of deeds) planned.push([deed, await liesFor(random, deed, lying)]);
      await Promise.all(planned.map(([deed, lies]) => perform(steps, deed, lies)));
      for (const [deed, lies] of planned) if (lies.length > 0) noteMisled(random, deed);
    },
    async recover() {
      misled.length = 0;
      await recover(scene, {
        raw,
        confirm: (holder) => isRight(scene, holder),
        lied,
      });
    },
  };
}
