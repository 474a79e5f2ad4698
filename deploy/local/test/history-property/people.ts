import { box, contexts, encodeBase64, newKey, newKeyPair } from "@coffer/crypto";
import {
  bootstrap,
  createClient,
  isBootstrapped,
  type MachineClient,
  type MachineConfiguration,
  memoryKeeper,
  personClient,
  type PersonClient,
  type PersonSession,
  type SessionKeeper,
  type TrustRecord,
} from "@coffer/sdk";
import { finishedRegistration } from "../../../../services/auth-sm/test/support/people.ts";
import { type Actor, storedTrust } from "./actor.ts";
import type { Lie } from "./lie.ts";
import type { Identity } from "./oracle.ts";
import { patiently } from "./patience.ts";
import type { Res, Truth } from "./truth.ts";

/** A person on all devices. */
export interface Person extends Identity {
  readonly email: string;
  readonly who: `user:${string}`;
  readonly session: PersonSession;
  readonly keeper: SessionKeeper;
  readonly devices: Device[];
  readonly accepted: Set<Res>;
  /** Whether the attacker has had the person's keys from the start. */
  readonly corrupt: boolean;
}

export interface Device extends Actor {
  readonly person: Person;
  readonly client: PersonClient;
  /** Restarts as another process, with the device's storage. */
  restart(): void;
}

export interface Machine extends Actor {
  readonly client: MachineClient | undefined;
  readonly configuration: MachineConfiguration | undefined;
  /** Spends a token, or continues after a crash. `savesBefore`: it ends at its next save. */
  begin(token: string | undefined, savesBefore: number): Promise<MachineConfiguration>;
  restart(): void;
}

/** The parts of the world that people and machines use. */
export interface Setting {
  url: string;
  truth: Truth;
  fetchFor(actor: Actor): typeof fetch;
  /** Compares the words of a key with those of its holder. */
  isRight(id: string, publicKey: string): boolean;
}

/** Waits for a busy service. */
const timeoutMilliseconds = 300_000;

export async function newPerson({ url }: Setting, email: string, corrupt = false): Promise<Person> {
  const [userKey, { publicKey, privateKey }] = [newKey(), await newKeyPair()];
  const encrypted_private_key = await box(userKey, privateKey, contexts.privateKey());
  const made = await patiently(() =>
    finishedRegistration({ url }, { email, publicKey, more: { encrypted_private_key } }),
  );
  const now = Math.floor(Date.now() / 1000);
  const session: PersonSession = {
    url,
    user: { id: made.userId, email, name: null },
    session_id: made.sessionId,
    access_token: made.token,
    access_expires_at: now + 600,
    refresh_token: made.refreshToken,
    refresh_expires_at: now + 86_400,
    user_key: encodeBase64(userKey),
    public_key: publicKey,
    encrypted_private_key,
  };
  return {
    ...{ email, publicKey, privateKey, userKey, session, corrupt, who: `user:${made.userId}` as const },
    ...{ keeper: memoryKeeper(session), devices: [], accepted: new Set() },
  };
}

/** A new device of a person, with the person's keys only. */
export function newDevice(setting: Setting, person: Person): Device {
  const trust = storedTrust();
  let client: PersonClient | undefined;
  const device: Device = {
    name: `${person.email.split("@")[0] ?? ""}/${person.devices.length + 1}`,
    ...{ who: person.who, publicKey: person.publicKey, privateKey: person.privateKey, userKey: person.userKey },
    ...{
      seen: new Map<Res, readonly string[]>(),
      seenKeyring: 0,
      sentKeyrings: new Set<number>(),
      sentPins: new Set<string>(),
      givesUp: new Set<Res | undefined>(),
    },
    ...{ lies: [], accepted: person.accepted, person },
    record: () => trust.now(),
    get client() {
      const options = {
        ...{ trust, attempts: 1, timeoutMilliseconds, fetch: setting.fetchFor(device) },
        freshSeconds: person.devices.length % 2 === 0 ? 0 : 30,
        accept: ({ kind, id }: { kind: "folder" | "vault"; id: string }) => {
          // A person accepts only folders and vaults that a colleague made.
          const expected = setting.truth.history(`${kind}:${id}`).length > 0;
          if (expected) person.accepted.add(`${kind}:${id}`);
          return Promise.resolve(expected);
        },
      };
      return (client ??= personClient(person.keeper, setting.url, options));
    },
    restart: () => (client = undefined),
  };
  person.devices.push(device);
  return device;
}

/** A machine; one with a read-only file always begins with its bootstrap's content. */
export function newMachine(setting: Setting, name: string, readOnly: boolean): Machine {
  let configuration: MachineConfiguration | undefined;
  let client: MachineClient | undefined;
  let held: (() => TrustRecord) | undefined;
  const machine: Machine = {
    name,
    ...{ who: "client:none", publicKey: "", privateKey: new Uint8Array(), userKey: undefined },
    ...{
      seen: new Map<Res, readonly string[]>(),
      seenKeyring: 0,
      sentKeyrings: new Set<number>(),
      sentPins: new Set<string>(),
      givesUp: new Set<Res | undefined>(),
      lies: [] as Lie[],
    },
    accepted: new Set<Res>(),
    record: () => held?.() ?? configuration?.histories ?? { version: 1, keyring: 0, unsaved: false, resources: {} },
    get configuration() {
      return configuration;
    },
    get client() {
      if (client !== undefined || configuration === undefined || !isBootstrapped(configuration)) return client;
      const file = configuration;
      const trust = storedTrust(file.histories ?? undefined, (histories) => {
        if (!readOnly) configuration = { ...file, histories };
      });
      held = trust.now;
      client = createClient(structuredClone(file), {
        ...{ trust, attempts: 1, timeoutMilliseconds, freshSeconds: 0, fetch: setting.fetchFor(machine) },
      });
      return client;
    },
    async begin(token, savesBefore) {
      let left = savesBefore;
      const save = (next: MachineConfiguration): Promise<void> => {
        left -= 1;
        if (left < 0) return Promise.reject(new TypeError("the process has ended"));
        configuration = structuredClone(next);
        machine.who = `client:${next.client_id}`;
        machine.publicKey = next.public_key;
        machine.privateKey = Buffer.from(next.private_key, "base64");
        return Promise.resolve();
      };
      const pending = configuration === undefined ? {} : { pending: structuredClone(configuration) };
      const request = { url: setting.url, token, save, ...pending };
      return bootstrap(request, { attempts: 1, timeoutMilliseconds, fetch: setting.fetchFor(machine) });
    },
    restart() {
      client = undefined;
      held = undefined;
      if (!readOnly) return;
      // Its file lacks later knowledge.
      machine.seen.clear();
      for (const [res, { pin }] of Object.entries(configuration?.histories?.resources ?? {}))
        machine.seen.set(res as Res, [pin.hash]);
    },
  };
  return machine;
}
