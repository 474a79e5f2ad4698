import { CofferError, type ConfirmKey, isBootstrapped } from "@coffer/sdk";
import { idOf } from "./deed.ts";
import { openAs, readOne, titles, writeOne } from "./deeds.ts";
import type { Device, Machine, Person } from "./people.ts";
import type { Scene } from "./scene.ts";
import { cutNameOf, type Res, type StateThere, type Who } from "./truth.ts";
import { readRecords, writeRecord } from "./vault-deeds.ts";

export interface RecoveryTools {
  /** A request of a person without a client. */
  raw(person: Person, method: string, path: string): Promise<Record<string, unknown> | undefined>;
  confirm: ConfirmKey;
  /** Whether the service has lied before. */
  lied: boolean;
}

/** The errors of the service for ended access. */
const ended = new Set<string>(["access_denied", "invalid_token", "not_found"]);

/** The most rounds of recovery: a device may learn another's wrong pins. */
const rounds = 4;

/**
 * The service is honest again. A deceived device trusts the service's history again, as documented; others
 * need no step. Then every holder opens every folder.
 */
export async function recover(scene: Scene, tools: RecoveryTools): Promise<void> {
  const { truth, people, machines } = scene;
  for (const machine of machines) machine.restart();
  const devices = people.filter(({ corrupt, who }) => !corrupt && scene.isMember(who)).flatMap((one) => one.devices);
  for (const device of devices) device.restart();
  for (let round = 1; round <= rounds; round += 1) {
    let calm = true;
    for (const device of devices) calm = (await recoverDevice(scene, tools, device)) && calm;
    if (calm) break;
    if (round === rounds) scene.oracle.violation(devices[0] as Device, "trusting again does not end");
  }
  for (const machine of machines) await recoverMachine(scene, tools, machine);
  if (!tools.lied) for (const machine of machines) await goOn(scene, machine);
  for (const device of devices) await attempt(scene, device, "opens its folders", () => openAs(scene, device));
  for (const res of truth.folders()) await openFolder(scene, tools, res, devices);
  for (const res of truth.vaults()) await openVault(scene, tools, res, devices);
}

/** Takes the documented steps of a deceived device. Returns whether there were none. */
async function recoverDevice(scene: Scene, tools: RecoveryTools, device: Device): Promise<boolean> {
  const { truth, oracle } = scene;
  const { client } = device;
  let calm = true;
  const isStrange = (res: Res): boolean => {
    const { pin, expect } = device.record().resources[res] ?? {};
    return [...(pin === undefined ? [] : [pin]), ...(expect ?? [])].some((mark) => !truth.has(res, mark.hash));
  };
  const org = scene.org();
  if (isStrange(org)) {
    calm = false;
    oracle.forgives(device, org);
    await attempt(scene, device, "trusts the organization", () => client.organizations.trust(idOf(org), tools.confirm));
  }
  const stored = truth.keyringVersion.get(device.who) ?? 0;
  if (device.record().keyring > stored || stored === 0 || Object.keys(device.record().resources).length === 0) {
    calm = stored !== 0 && device.record().keyring <= stored && calm;
    if (device.record().keyring > stored || stored === 0) {
      oracle.forgives(device);
      await attempt(scene, device, "trusts the keyring", () =>
        client.keyring.trust((shown) => {
          for (const { res } of shown) device.accepted.add(res);
          return Promise.resolve(true);
        }),
      );
    }
  }
  const listed = await granted(scene, tools, device);
  for (const name of Object.keys(device.record().resources)) {
    const res = name as Res; // a record has the names of histories
    if (!res.startsWith("folder:") || !isStrange(res) || !listed.has(res) || isLost(scene, res)) continue;
    calm = false;
    oracle.forgives(device, res);
    await attempt(scene, device, `trusts ${res}`, () => client.folders.trust(idOf(res), tools.confirm));
    device.accepted.add(res);
  }
  await attempt(scene, device, "lists its folders", async () => {
    for (const { id, problem } of await client.folders.list()) {
      if (problem !== "not_accepted") continue;
      device.accepted.add(`folder:${id}`);
      await client.folders.accept(id);
    }
  });
  return (await recoverVaults(scene, tools, device)) && calm;
}

/** As `recover` for vaults, whose pins devices share separately. */
async function recoverVaults(scene: Scene, tools: RecoveryTools, device: Device): Promise<boolean> {
  const { truth, oracle } = scene;
  let calm = true;
  await attempt(scene, device, "lists its vaults", async () => {
    for (const { id, problem } of await device.client.vaults.list()) {
      const res: Res = `vault:${id}`;
      if (problem === "not_accepted") {
        device.accepted.add(res);
        await device.client.vaults.accept(id);
      }
      const { pin, expect, pin_version: version = 0 } = device.record().resources[res] ?? {};
      const strange = [...(pin === undefined ? [] : [pin]), ...(expect ?? [])].some(
        (mark) => !truth.has(res, mark.hash),
      );
      const stored = truth.vaultPinVersion.get(`${device.who} ${res}`) ?? 0;
      const known = truth.vaultPins.get(`${device.who} ${res} ${stored}`);
      const isPinStrange = stored === 0 || (known !== undefined && !truth.has(res, known[1]));
      if (!strange && version <= stored && !(problem !== null && isPinStrange)) continue;
      if (truth.history(res).length === 0 || isLost(scene, res) || !tools.lied) continue;
      calm = false;
      oracle.forgives(device, res);
      device.accepted.add(res);
      await device.client.vaults.trust(id, tools.confirm);
    }
  });
  return calm;
}

async function openVault(scene: Scene, tools: RecoveryTools, res: Res, devices: readonly Device[]): Promise<void> {
  const { truth } = scene;
  const state = truth.newest(res);
  if (state === undefined || isLost(scene, res)) return;
  const present: Device[] = [];
  for (const device of devices) {
    const listed = (await tools.raw(device.person, "GET", "/api/vaults?limit=1000"))?.["data"] as { id: string }[];
    const isHere = listed.some(({ id }) => id === idOf(res));
    if (isHere && state.holders.get(device.who)?.key === device.publicKey) present.push(device);
  }
  if (!present.some(({ who }) => state.holders.get(who)?.perm === "manage")) return;
  for (const device of present) {
    await attempt(scene, device, `reads the records of ${res}`, async () => {
      const found = await readRecords(scene, device, res);
      for (const [id, { value }] of truth.secrets.get(res) ?? [])
        if (found.get(id) !== value)
          scene.oracle.violation(
            device,
            `it reads ${found.get(id) ?? "nothing"} in ${res}, and the newest is ${value}`,
          );
    });
    if (state.holders.get(device.who)?.perm !== "read")
      await attempt(scene, device, `writes into ${res}`, () => writeRecord(scene, device, res));
  }
}

/** The folders that the service lists to a person. */
async function granted({ truth }: Scene, { raw }: RecoveryTools, { person }: Device): Promise<Set<Res>> {
  const answer = await raw(person, "GET", "/api/org/folders");
  const data = (answer?.["data"] ?? []) as { id: string; permission: string | null }[];
  const held = data.filter(({ permission }) => permission !== null).map(({ id }): Res => `folder:${id}`);
  return new Set(held.filter((res) => truth.history(res).length > 0));
}

async function recoverMachine(scene: Scene, tools: RecoveryTools, machine: Machine): Promise<void> {
  const { configuration, client } = machine;
  if (client === undefined || configuration === undefined) return;
  for (const [name, { pin }] of Object.entries(machine.record().resources)) {
    const res = name as Res;
    if (scene.truth.has(res, pin.hash) || !isHolder(scene, res, machine.who)) continue;
    scene.oracle.forgives(machine, res);
    await attempt(scene, machine, `trusts ${res}`, () =>
      // The service may have ended its access before a rotation reports it.
      client.trustFolder(idOf(res), tools.confirm).catch((error: unknown) => {
        if (!(error instanceof CofferError) || !ended.has(error.code)) throw error;
      }),
    );
  }
}

/** A machine with an unfinished bootstrap finishes it, while its invitations are open. */
async function goOn(scene: Scene, machine: Machine): Promise<void> {
  const { truth, oracle } = scene;
  const { configuration } = machine;
  if (configuration === undefined || isBootstrapped(configuration)) return;
  const tag = configuration.token_hash ?? "";
  const invited = truth
    .folders()
    .filter((res) => truth.history(res).some(({ claims }) => claims.invite?.some((one) => one.tag === tag)));
  const dropped = invited.filter((res) =>
    truth.history(res).some(({ claims }) => claims.drop?.includes(`invite:${tag}`)),
  );
  for (const res of dropped) oracle.violation(machine, `its invitation to ${res} was dropped before it could join`);
  const isClosed = invited.some(
    (res) => !isHolder(scene, res, machine.who) && truth.newest(res)?.invitations.has(tag) !== true,
  );
  if (isClosed || !truth.begun.has(machine.who)) return;
  await attempt(scene, machine, "ends its bootstrap", () => machine.begin(undefined, 99));
}

function isHolder({ truth }: Scene, res: Res, who: Who): boolean {
  return truth.newest(res)?.holders.has(who) === true;
}

/**
 * A folder whose history trusts a removed person beyond the organization's cut: a lying service can
 * cause that.
 */
function isLost({ truth }: Scene, res: Res): boolean {
  const state = truth.newest(res);
  const organization = state === undefined ? undefined : truth.newest(`org:${state.org ?? ""}`);
  if (state === undefined || organization === undefined) return false;
  return state.signers.some(({ who, key, seq }) => {
    if (organization.holders.get(who)?.key === key) return false;
    const cut = organization.former.get(`${who} ${key}`)?.[cutNameOf(res)];
    return cut === undefined || seq > cut[0] || truth.history(res)[cut[0]]?.hash !== cut[1];
  });
}

async function openFolder(scene: Scene, tools: RecoveryTools, res: Res, devices: readonly Device[]): Promise<void> {
  const { truth, machines } = scene;
  const state = truth.newest(res);
  if (state === undefined || isLost(scene, res)) return;
  const answer = await tools.raw(scene.owner(), "GET", `/api/org/folders/${idOf(res)}/members`);
  const listed = (answer?.["data"] ?? []) as { kind: string; id: string; has_key: boolean; permission: string }[];
  const present = (who: Who, publicKey: string): boolean =>
    state.holders.get(who)?.key === publicKey && listed.some(({ kind, id }) => `${kind}:${id}` === who);
  const people = devices.filter(({ who, publicKey }) => present(who, publicKey));
  const ready = machines.filter(
    ({ who, publicKey, configuration }) =>
      configuration !== undefined && isBootstrapped(configuration) && present(who, publicKey),
  );
  // No member can seal a key: the last manager of the folder was removed by force.
  const managers = people.filter(({ who }) => state.holders.get(who)?.perm === "manage");
  if (managers.length === 0) return;
  for (const holder of [...people, ...ready]) await useFolder(scene, res, state, holder, tools.lied);
}

async function useFolder(
  scene: Scene,
  res: Res,
  state: StateThere,
  holder: Device | Machine,
  lied: boolean,
): Promise<void> {
  if (!("person" in holder) && !mayAccept(scene, res, holder)) return;
  const secrets = [...(scene.truth.secrets.get(res) ?? [])];
  // A person from whom the service hid a secret may have made it again: both have a uid.
  const nameOf = (uid: string, title: string): string => (lied ? uid : title);
  for (const [uid, { title, value }] of secrets)
    await attempt(scene, holder, `reads ${title} in ${res}`, async () => {
      const found = await readOne(scene, holder, res, title, nameOf(uid, title));
      if (found !== value) scene.oracle.violation(holder, `it reads ${found ?? "nothing"}, and the newest is ${value}`);
    });
  if (state.holders.get(holder.who)?.perm === "read") return;
  const [uid, { title }] = secrets[0] ?? ["", { title: titles[0] as string }];
  const name = uid === "" ? title : nameOf(uid, title);
  await attempt(scene, holder, `writes into ${res}`, () => writeOne(scene, holder, res, title, name));
}

/** A later folder of a machine counts only from a manager of one of its folders. */
function mayAccept({ truth }: Scene, res: Res, machine: Machine): boolean {
  const record = machine.record().resources;
  if (record[res]?.accepted === true) return true;
  const given = truth.history(res).findLast(({ claims }) => claims.set?.some(({ who }) => who === machine.who));
  const by = given?.claims.by as Who | undefined;
  return Object.keys(record).some((other) => {
    const state = record[other]?.accepted === true ? truth.newest(other as Res) : undefined;
    return by !== undefined && state?.holders.get(by)?.perm === "manage";
  });
}

async function attempt(
  { oracle }: Scene,
  actor: Device | Machine,
  what: string,
  run: () => Promise<unknown>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const why = error instanceof CofferError ? `${error.code}: ${error.message}` : String((error as Error).stack);
    oracle.violation(actor, `it is locked out when it ${what}: ${why}`);
  }
  oracle.inspect(actor);
}
