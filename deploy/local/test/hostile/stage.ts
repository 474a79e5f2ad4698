import {
  type AcceptOffer,
  type ConfirmKey,
  createClient,
  emptyTrust,
  type MachineClient,
  memoryTrust,
  personClient,
  type PersonClient,
  type TrustRecord,
} from "@coffer/sdk";
import { fingerprint } from "@coffer/crypto";
import type { Lie, Wire } from "./wire.ts";
import { clientOf, impatient, type Machine, type Person, type World } from "./world.ts";

/** The stage of one step: deceived clients, and honest ones that prepare and clean up. */
export interface Stage {
  world: World;
  wire: Wire;
  lie: Lie | undefined;
  /** A number that no other run has. */
  run: number;
  /** A client of a person's device with the device's trust, which it does not change. */
  person(person: Person, accept?: AcceptOffer): PersonClient;
  /** A client of a new device with only the session. */
  newDevice(person: Person, accept?: AcceptOffer): PersonClient;
  machine(machine: Machine): MachineClient;
  /** A client without lies. */
  honest(person: Person): PersonClient;
  /** Compares the words of a key, as people do by telephone. */
  compare: ConfirmKey;
  /** The present trust of the deceived clients, without refused values. */
  pins(): Promise<ReadonlyMap<string, string>>;
}

export function newStage(world: World, run: number, lie: Lie | undefined): Stage {
  const { wire, truth } = world;
  const storages: { load(): Promise<TrustRecord> }[] = [];
  const recorded = (record: TrustRecord): ReturnType<typeof memoryTrust> => {
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
      const storage = lazyTrust(async () => recorded(await person.trust.load()));
      return lied(person, storage, accept);
    },
    newDevice: (person, accept) => lied(person, recorded(emptyTrust()), accept),
    machine: (machine) => {
      const { configuration, name } = machine;
      const trust = recorded(configuration.histories ?? emptyTrust());
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
