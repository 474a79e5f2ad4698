import { createClient, emptyTrust, memoryTrust, personClient } from "@coffer/sdk";
import type { AcceptOffer, MachineClient, PersonClient, TrustRecord } from "@coffer/sdk";
import { fingerprint } from "@coffer/crypto";
import type { ConfirmKey } from "@coffer/sdk";
import type { Lie, Wire } from "./wire.ts";
import { clientOf, impatient } from "./world.ts";
import type { Machine, Person, World } from "./world.ts";

/** Where one step of the journey is played: clients that are lied to, and honest ones that prepare and tidy up. */
export interface Stage {
  world: World;
  wire: Wire;
  lie: Lie | undefined;
  /** A number that no other run has. */
  run: number;
  /** A client of a person's device, which trusts what the device trusts, and forgets afterwards what it saw. */
  person(person: Person, accept?: AcceptOffer): PersonClient;
  /** A client of a device that begins with nothing but the session. */
  newDevice(person: Person, accept?: AcceptOffer): PersonClient;
  machine(machine: Machine): MachineClient;
  /** A client that is not lied to. */
  honest(person: Person): PersonClient;
  /** Compares the words of a key, as people do who have the holder at the telephone. */
  compare: ConfirmKey;
  /** What the clients that were lied to trust now, apart from what was never accepted. */
  pins(): Promise<ReadonlyMap<string, string>>;
}

export function newStage(world: World, run: number, lie: Lie | undefined): Stage {
  const { wire, truth } = world;
  const storages: { load(): Promise<TrustRecord> }[] = [];
  const kept = (record: TrustRecord): ReturnType<typeof memoryTrust> => {
    const storage = memoryTrust(structuredClone(record));
    storages.push(storage);
    return storage;
  };
  const lied = (person: Person, trust: ReturnType<typeof memoryTrust>, accept?: AcceptOffer): PersonClient =>
    personClient(person.session, wire.url, { ...impatient, fetch: wire.network(person.name, lie), trust, accept });
  return {
    world,
    wire,
    lie,
    run,
    person: (person, accept) => {
      const storage = lazyTrust(async () => kept(await person.trust.load()));
      return lied(person, storage, accept);
    },
    newDevice: (person, accept) => lied(person, kept(emptyTrust()), accept),
    machine: (machine) => {
      const { configuration, name } = machine;
      const trust = kept(configuration.histories ?? emptyTrust());
      return createClient(configuration, { ...impatient, fetch: wire.network(name, lie), trust });
    },
    honest: (person) => clientOf(wire, person),
    compare: async (holder) => {
      const keys = [...truth.keysOf(`${holder.kind}:${holder.id}`)];
      const words = await Promise.all(keys.map(async (key) => (await fingerprint(key)).words));
      return words.includes(holder.fingerprint.words);
    },
    async pins() {
      const pins = new Map<string, string>();
      for (const storage of storages)
        for (const [res, { pin, accepted }] of Object.entries((await storage.load()).resources))
          if (accepted || res.startsWith("org:")) pins.set(res, pin.hash);
      return pins;
    },
  };
}

/** A storage that is made when it is first used. */
function lazyTrust(make: () => Promise<ReturnType<typeof memoryTrust>>): ReturnType<typeof memoryTrust> {
  let made: Promise<ReturnType<typeof memoryTrust>> | undefined;
  const storage = (): Promise<ReturnType<typeof memoryTrust>> => (made ??= make());
  return {
    load: async () => (await storage()).load(),
    change: async (change) => (await storage()).change(change),
  };
}
