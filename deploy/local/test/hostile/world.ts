import { accessTokenPrefix, contexts, decodeBase64, newId, openSealed, publicKeyOf, unboxBound } from "@coffer/crypto";
import {
  type AcceptOffer,
  bootstrap,
  CofferError,
  createClient,
  type MachineConfiguration,
  memoryTrust,
  type PersonClient,
  personClient,
  type PersonSession,
  type TrustRecord,
} from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { type Attacker, mark, newAttacker } from "./attacker.ts";
import { newTruth, type Truth } from "./truth.ts";
import type { Lie, Wire } from "./wire.ts";

export const password = "correct horse battery staple";
/** One attempt without long waits: a false response is not repeated. */
export const impatient = { attempts: 1, maxWaitSeconds: 1, timeoutMilliseconds: 20_000 };

/** A person with one device. */
export interface Person {
  name: string;
  email: string;
  session: PersonSession;
  recoveryKey: string;
  privateKey: Uint8Array;
  publicKey: string;
  /** The trust of the device. */
  trust: ReturnType<typeof memoryTrust>;
}

export interface Machine {
  name: string;
  application: string;
  configuration: MachineConfiguration;
}

/**
 * An organization before the attack. Olivia owns it. Anna administers it, and manages production. Bob reads
 * production and writes staging. Rita reads production and works with the operator. Mallory managed
 * production and read staging, was removed, and works with the operator; so does the stolen machine. The
 * folders and a shared vault were rotated since. Eve, the operator, has an organization with equal names.
 */
export interface World {
  url: string;
  wire: Wire;
  truth: Truth;
  attacker: Attacker;
  people: Record<"olivia" | "anna" | "bob" | "rita" | "mallory" | "eve", Person>;
  machines: Record<"api" | "worker" | "stolen" | "eves", Machine>;
  folders: Record<"production" | "staging" | "private" | "eves", string>;
  /** A shared vault with a history, held as production is, and its record. */
  team: { id: string; record: string };
  application: string;
  org: string;
  /** The trust of the devices before Mallory's removal, by the person's name. */
  before: ReadonlyMap<string, TrustRecord>;
  /** The number of exchanges until then. */
  exchangesBefore: number;
  /** The keys of Mallory and the stolen machine, by folder. */
  oldKeys: Record<"production" | "staging" | "team", Uint8Array>;
}

/** Folders whose holders have these names. */
export const production = "production";
export const staging = "staging";

/** Makes it with honest clients. All responses are recorded by the wire. */
export async function newWorld(wire: Wire): Promise<World> {
  const { url } = wire;
  const truth = newTruth();
  const person = (name: string, more: { organization?: string; inviteToken?: string } = {}): Promise<Person> =>
    newPerson(wire, truth, name, more);
  const olivia = await person("olivia", { organization: "Example" });
  const eve = await person("eve", { organization: "Example" });
  const owner = clientOf(wire, olivia);
  const join = async (name: string, role: "admin" | "member"): Promise<Person> => {
    const email = emailOf(name);
    const { token } = await owner.invites.create(email, role);
    const { id } = await owner.organizations.current();
    const joined = await newPerson(wire, truth, name, { email, inviteToken: token });
    if (role === "admin") truth.grant(`org:${id}`, `user:${joined.session.user.id}`, "manage");
    await clientOf(wire, joined).invites.accept(token);
    return joined;
  };
  const anna = await join("anna", "admin");
  const bob = await join("bob", "member");
  const rita = await join("rita", "member");
  const mallory = await join("mallory", "admin");
  const people = { olivia, anna, bob, rita, mallory, eve };

  const folders = {
    production: await newFolder(truth, owner, production),
    staging: await newFolder(truth, owner, staging),
    private: await newFolder(truth, owner, "private"),
    eves: await newFolder(truth, clientOf(wire, eve), production),
  };
  const share = async (folder: "production" | "staging", holder: Person, permission: "read" | "write" | "manage") => {
    truth.grant(`folder:${folders[folder]}`, `user:${holder.session.user.id}`, permission);
    await owner.folders.share(folders[folder], { userId: holder.session.user.id, permission });
    await clientOf(wire, holder).folders.accept(folders[folder]);
  };
  await share("production", anna, "manage");
  await share("production", bob, "read");
  await share("production", rita, "read");
  await share("production", mallory, "manage");
  await share("staging", bob, "write");
  await share("staging", mallory, "read");
  truth.colluding.add(`folder:${folders.production}|${rita.publicKey}`);

  const write = async (client: PersonClient, folder: string, title: string, field: string, value: string) => {
    await client.secrets.set(`coffer://${folder}/${title}/field/${field}`, value);
  };
  for (const [folder, title, field, value] of secrets) {
    await write(owner, folders[folder], title, field, value);
    truth.value(folders[folder], title, field, value);
  }
  for (const title of ["database", "api"])
    await write(clientOf(wire, eve), folders.eves, title, "password", `${mark}: ${title}`);

  const team = await newTeam(wire, truth, owner, { anna, bob, rita, mallory });
  const application = (await owner.applications.create("api")).id;
  const evesApplication = (await clientOf(wire, eve).applications.create("api")).id;
  const machine = (by: Person, name: string, app: string, list: [string, "read" | "write"][]): Promise<Machine> =>
    newMachine(wire, truth, by, { name, application: app, folders: list });
  const machines = {
    api: await machine(olivia, "api", application, [
      [folders.production, "read"],
      [folders.staging, "write"],
    ]),
    worker: await machine(olivia, "worker", application, [[folders.production, "read"]]),
    stolen: await machine(olivia, "stolen", application, [
      [folders.production, "read"],
      [folders.staging, "read"],
    ]),
    eves: await machine(eve, "api", evesApplication, [[folders.eves, "read"]]),
  };
  const world = { url, wire, truth, attacker: await newAttacker(), people, machines, folders, team, application };
  const org = (await owner.organizations.current()).id;
  await visitAll(wire, Object.values(people), Object.values(machines));

  const before = new Map<string, TrustRecord>();
  for (const { name, trust } of Object.values(people)) before.set(name, structuredClone(await trust.load()));
  const exchangesBefore = wire.exchanges.length;
  const oldKeys = {
    production: await keyOf(owner, production),
    staging: await keyOf(owner, staging),
    team: await vaultKeyOf(wire, mallory, team.id),
  };
  await owner.machines.remove(application, machines.stolen.configuration.client_id);
  await owner.members.remove(mallory.session.user.id);
  await owner.folders.rotate(folders.production);
  await owner.folders.rotate(folders.staging);
  await owner.vaults.rotate(team.id);
  for (const [folder, title, field, value] of laterSecrets) {
    await write(owner, folders[folder], title, field, value);
    truth.value(folders[folder], title, field, value);
  }
  await visitAll(wire, [olivia, anna, bob, rita, eve], [machines.api, machines.eves]);
  return { ...world, org, before, exchangesBefore, oldKeys };
}

const secrets: ["production" | "staging" | "private", string, string, string][] = [
  ["production", "database", "password", "production database password"],
  ["production", "database", "username", "production database username"],
  ["production", "api", "password", "production api password"],
  ["staging", "database", "password", "staging database password"],
  ["private", "database", "password", "private database password"],
];
const laterSecrets: typeof secrets = [
  ["production", "database", "password", "production database password, the second"],
  ["staging", "later", "password", "staging later password"],
];

/** All actors read everything once, so that the operator has each response. */
async function visitAll(wire: Wire, people: readonly Person[], machines: readonly Machine[]): Promise<void> {
  for (const person of people) {
    const me = clientOf(wire, person);
    await me.account();
    await me.folders.list();
    await me.secrets.list();
    await me.members.list();
    for (const { id } of await me.vaults.list()) await me.records.list(id);
  }
  for (const machine of machines) {
    const client = machineOf(wire, machine);
    await client.folders();
    for (const { uid } of await client.list()) await client.get(uid);
  }
}

/** The shared vault, with one record in it. */
async function newTeam(
  wire: Wire,
  truth: Truth,
  owner: PersonClient,
  { anna, bob, rita, mallory }: Record<"anna" | "bob" | "rita" | "mallory", Person>,
): Promise<World["team"]> {
  const { id } = await owner.vaults.create("team", { type: "shared" });
  truth.name(`vault:${id}`, "team");
  const share = async (holder: Person, permission: "read" | "write" | "manage"): Promise<void> => {
    truth.grant(`vault:${id}`, `user:${holder.session.user.id}`, permission);
    await owner.vaults.share(id, { userId: holder.session.user.id, permission });
    await clientOf(wire, holder).vaults.accept(id);
  };
  await share(anna, "manage");
  await share(bob, "write");
  await share(rita, "read");
  await share(mallory, "manage");
  truth.colluding.add(`vault:${id}|${rita.publicKey}`);
  const fields = { name: "Example", password: "password of the team" };
  const record = await owner.records.create(id, { type: "login", fields });
  for (const [name, value] of Object.entries(fields)) truth.value(id, record.id, name, value);
  return { id, record: record.id };
}

/** The key of a vault that was shared with a person, who has listed the vaults. */
export async function vaultKeyOf({ exchanges }: Wire, { name, privateKey }: Person, id: string): Promise<Uint8Array> {
  const answers = exchanges
    .filter(({ from, path }) => from === name && path === "/api/vaults")
    .map(({ answer }) => answer.body);
  const vaults = answers.flatMap((body) => (body as { data: { id: string; encrypted_key: string | null }[] }).data);
  const sealed = vaults.findLast((vault) => vault.id === id)?.encrypted_key;
  return openSealed(privateKey, sealed ?? "", contexts.vaultKey(id));
}

async function keyOf(owner: PersonClient, name: string): Promise<Uint8Array> {
  const { key } = await owner.folders.find(name);
  if (key === null) throw new Error(`the owner has no key of ${name}`);
  return key;
}

async function newFolder(truth: Truth, owner: PersonClient, name: string): Promise<string> {
  const { id } = await owner.folders.create(name);
  truth.name(`folder:${id}`, name);
  return id;
}

export function emailOf(name: string): string {
  return `${name}-${newId()}@example.com`;
}

/** Registers a person; with an invitation the person has yet to join. */
export async function newPerson(
  wire: Wire,
  truth: Truth,
  name: string,
  { email = emailOf(name), ...more }: { email?: string; organization?: string; inviteToken?: string } = {},
  lie?: Lie,
): Promise<Person> {
  const device = { id: newId(), name: "test", type: "cli" };
  const options = { ...impatient, fetch: wire.network(name, lie) };
  const { session, recoveryKey, trust } = await register({ url: wire.url, email, password, device, ...more }, options);
  return personOf(truth, name, email, session, recoveryKey, trust);
}

/** A person with the first device's values. From now on the truth has the person's keys. */
export async function personOf(
  truth: Truth,
  name: string,
  email: string,
  session: PersonSession,
  recoveryKey: string,
  trust: TrustRecord,
): Promise<Person> {
  const userKey = decodeBase64(session.user_key);
  const privateKey = await unboxBound(userKey, session.encrypted_private_key, contexts.privateKey()).catch(() => {
    throw new CofferError("not_decrypted", "the private key of the session does not open");
  });
  const publicKey = await publicKeyOf(privateKey);
  truth.principal(`user:${session.user.id}`, publicKey, privateKey);
  truth.secret(session.user_key);
  truth.secret(recoveryKey);
  return { name, email, session, recoveryKey, privateKey, publicKey, trust: memoryTrust(trust) };
}

/** A machine, bootstrapped with a token that the person makes. */
export async function newMachine(
  wire: Wire,
  truth: Truth,
  by: Person,
  request: { name: string; application: string; folders: [id: string, permission: "read" | "write"][] },
): Promise<Machine> {
  const { name, application } = request;
  const folders = request.folders.map(([folderId, permission]) => ({ folderId, permission }));
  const { token } = await clientOf(wire, by).tokens.create({ applicationId: application, name, folders });
  const configuration = await bootstrapped(wire, truth, { name, token, folders });
  return { name, application, configuration };
}

/** Spends a token. The truth has the machine's key and permissions before that. */
export async function bootstrapped(
  wire: Wire,
  truth: Truth,
  request: { name: string; token: string; folders: readonly { folderId: string; permission: "read" | "write" }[] },
  lie?: Lie,
): Promise<MachineConfiguration> {
  const { name, token, folders } = request;
  // The service knows a token that it made.
  if (token.startsWith(accessTokenPrefix)) truth.secret(token);
  const save = (configuration: MachineConfiguration): Promise<void> => {
    const { client_id, public_key, private_key } = configuration;
    truth.principal(`client:${client_id}`, public_key, decodeBase64(private_key));
    for (const { folderId, permission } of folders)
      truth.grant(`folder:${folderId}`, `client:${client_id}`, permission);
    return Promise.resolve();
  };
  return bootstrap({ url: wire.url, token, save }, { ...impatient, fetch: wire.network(name, lie) });
}

/** The person's client; with a lie, a deceived one whose device's trust does not change. */
export function clientOf(wire: Wire, person: Person, lie?: Lie, accept?: AcceptOffer): PersonClient {
  return personClient(person.session, wire.url, {
    ...impatient,
    fetch: wire.network(person.name, lie),
    trust: person.trust,
    accept,
  });
}

export function machineOf(wire: Wire, machine: Machine, lie?: Lie): ReturnType<typeof createClient> {
  return createClient(machine.configuration, { ...impatient, fetch: wire.network(machine.name, lie) });
}
