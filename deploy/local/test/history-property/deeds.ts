import { encodeBase64, readAccessToken } from "@coffer/crypto";
import { isBootstrapped, type KeyHolder, type UsableFolder } from "@coffer/sdk";
import type { Random } from "@coffer/testkit";
import type { Actor } from "./actor.ts";
import { type Deed, idOf, permissions, personOf } from "./deed.ts";
import { type Device, type Machine, newDevice, newMachine, type Person } from "./people.ts";
import type { Scene } from "./scene.ts";
import type { Res } from "./truth.ts";
import { vaultDeed, vaultDeeds } from "./vault-deeds.ts";

export const titles = ["database", "mail"];

/** A possible action of an actor; undefined if the random choice does not fit. */
export function chooseDeed(scene: Scene, random: Random): Deed | undefined {
  const { truth, people, machines } = scene;
  const devices = people.filter(({ corrupt }) => !corrupt).flatMap((person) => person.devices);
  const device = random.pick(devices.filter(({ who }) => scene.isMember(who) || random.below(12) === 0));
  const machine = machines.length === 0 ? undefined : random.pick(machines);
  const folders = truth.folders();
  const res = folders.length === 0 ? undefined : random.pick(folders);
  /** Mostly a folder of the actor. */
  const folderFor = ({ who }: Actor): Res | undefined => {
    const held = folders.filter((one) => truth.newest(one)?.holders.has(who) === true);
    return held.length > 0 && random.below(8) > 0 ? random.pick(held) : res;
  };
  const manager = (of: Res): Device | undefined => {
    const able = devices.filter(
      ({ who }) => truth.newest(of)?.holders.get(who)?.perm === "manage" && scene.isMember(who),
    );
    return able.length === 0 ? undefined : random.pick(able);
  };
  const admin = (): Device | undefined => {
    const able = devices.filter(({ who }) => truth.newest(scene.org())?.holders.get(who)?.perm === "manage");
    return able.length === 0 ? undefined : random.pick(able);
  };
  const deed = (name: string, actor: Actor | undefined, run: () => Promise<unknown>): Deed | undefined =>
    actor === undefined ? undefined : { name, actor, run };

  const kinds: [number, () => Deed | undefined][] = [
    [10, () => readAs(scene, random, device, folderFor(device))],
    [10, () => writeAs(scene, random, device, folderFor(device))],
    [8, () => deed("open", device, () => openAs(scene, device))],
    [6, () => deed("list", device, () => listAs(scene, device))],
    [8, () => (machine === undefined ? undefined : readAs(scene, random, machine, folderFor(machine)))],
    [4, () => (machine === undefined ? undefined : writeAs(scene, random, machine, folderFor(machine)))],
    [4, () => deed("open", machine, () => openAs(scene, machine as Machine))],
    [4, () => deed("list", machine, () => listAs(scene, machine as Machine))],
    [
      3,
      () => {
        const one = random.pick([device, machine ?? device]);
        return deed("restart", one, () => {
          one.restart();
          return Promise.resolve();
        });
      },
    ],
    [folders.length < 4 ? 6 : 0, () => createFolder(random, admin())],
    [folders.length < 4 ? 2 : 0, () => deed("adopt", device, () => adopt(scene, device, random.below(1_000_000)))],
    [
      10,
      () => {
        const by = res === undefined ? undefined : manager(res);
        const target = random.pick(people.filter(({ who }) => scene.isMember(who)));
        const permission = target.corrupt ? "read" : random.pick(permissions);
        return res === undefined || target.who === by?.who
          ? undefined
          : deed(`share ${permission} with ${target.email}`, by, async () =>
              (by as Device).client.folders.share(idOf(res), { userId: personOf(target.who), permission }),
            );
      },
    ],
    [
      8,
      () => {
        const by = res === undefined ? undefined : manager(res);
        return res === undefined ? undefined : deed("rotate", by, () => rotate(by as Device, res));
      },
    ],
    [
      4,
      () => {
        const by = res === undefined ? undefined : manager(res);
        if (res === undefined || by === undefined) return undefined;
        const others = [...(truth.newest(res)?.holders.keys() ?? [])].filter(
          (who) => who !== by.who && who.startsWith("user:"),
        );
        if (others.length === 0) return undefined;
        const target = random.pick(others);
        const isRotated = random.below(4) > 0;
        return deed(isRotated ? "rotate" : "unshare", by, async () => {
          await by.client.folders.unshare(idOf(res), personOf(target));
          if (isRotated) await rotate(by, res);
        });
      },
    ],
    [
      3,
      () => {
        const by = res === undefined ? undefined : manager(res);
        const name = `folder ${random.below(1_000)}`;
        return res === undefined
          ? undefined
          : deed("rename", by, async () => (by as Device).client.folders.rename(idOf(res), name));
      },
    ],
    [3, () => deed("accept", device, () => acceptAll(scene, device))],
    [machines.length < 5 ? 5 : 1, () => tokenFor(scene, random, admin(), manager)],
    [6, () => spendToken(scene, random)],
    [
      3,
      () => {
        const half = machines.filter(
          ({ configuration }) => configuration === undefined || !isBootstrapped(configuration),
        );
        if (half.length === 0) return undefined;
        const one = random.pick(half);
        return deed("go on with the bootstrap", one, () => bootstrapped(scene, one, undefined, 99));
      },
    ],
    [
      4,
      () => {
        const by = res === undefined ? undefined : manager(res);
        if (res === undefined || by === undefined) return undefined;
        // Also one with an unfinished bootstrap, by a manager of its token's folder.
        const begun = machines.filter(
          ({ configuration }) =>
            configuration !== undefined &&
            (isBootstrapped(configuration) || isInvitedBy(scene, configuration.token_hash ?? "", by)),
        );
        if (begun.length === 0) return undefined;
        const { who } = random.pick(begun);
        const permission = random.pick(["read", "write"] as const);
        const request = { clientId: idOf(who as Res), folderId: idOf(res), permission };
        return deed("share with a machine", by, async () =>
          by.client.machines.share(scene.applicationId(), request, (holder) => isRight(scene, holder)),
        );
      },
    ],
    [
      2,
      () => {
        const by = res === undefined ? undefined : manager(res);
        const held = [...(res === undefined ? [] : (truth.newest(res)?.holders.keys() ?? []))];
        const clients = held.filter((who) => who.startsWith("client:"));
        if (res === undefined || by === undefined || clients.length === 0) return undefined;
        const client = random.pick(clients).slice("client:".length);
        return deed("rotate", by, async () => {
          await by.client.machines.unshare(scene.applicationId(), client, idOf(res));
          await rotate(by, res);
        });
      },
    ],
    [
      1,
      () => {
        const by = admin();
        const ready = machines.filter(
          ({ configuration }) => configuration !== undefined && isBootstrapped(configuration),
        );
        if (by === undefined || ready.length < 3) return undefined;
        const { who } = random.pick(ready);
        return deed("remove a machine", by, () => by.client.machines.remove(scene.applicationId(), idOf(who as Res)));
      },
    ],
    [
      2,
      () => {
        const by = admin();
        return deed("confirm machines", by, () => confirmMachines(scene, by as Device));
      },
    ],
    [5, () => invite(scene, random, admin())],
    [
      6,
      () => {
        const open = scene.invitations.filter(({ person }) => !scene.isMember(person.who));
        if (open.length === 0) return undefined;
        const { person, token } = random.pick(open);
        const on = person.devices[0] ?? newDevice(scene, person);
        return deed("join", on, () => on.client.invites.accept(token));
      },
    ],
    [2, () => changeRole(scene, random, admin())],
    [5, () => removeMember(scene, random, admin())],
    [
      1,
      () => {
        const by = admin();
        const gone = people.filter(
          ({ who }) => scene.wasRemoved(who) && truth.newest(scene.org())?.holders.has(who) === true,
        );
        if (by === undefined || gone.length === 0) return undefined;
        const one = random.pick(gone);
        return deed("sign a removal", by, () => by.client.members.remove(personOf(one.who), { force: true }));
      },
    ],
    [
      2,
      () => {
        const person = random.pick(people.filter(({ corrupt, who }) => !corrupt && scene.isMember(who)));
        if (person.devices.length > 3) return undefined;
        const made = newDevice(scene, person);
        return deed("open", made, () => openAs(scene, made));
      },
    ],
  ];
  kinds.push(...vaultDeeds(scene, random, devices, device));
  const exposed = folders.filter((one) => scene.isExposed(one));
  if (exposed.length > 0 && random.below(3) === 0) {
    const of = random.pick(exposed);
    const holders = [...devices.filter(({ who }) => scene.isMember(who)), ...machines].filter(
      ({ who }) => truth.newest(of)?.holders.has(who) === true,
    );
    if (holders.length > 0) return random.pick([readAs, writeAs])(scene, random, random.pick(holders), of);
  }
  let left = random.below(kinds.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, make] of kinds) {
    left -= weight;
    if (left < 0) return make();
  }
  return undefined;
}

/** The next action of a deceived person: reads the organization, and uses the folder or vault again. */
export function misledDeeds(scene: Scene, random: Random, actor: Actor): Deed[] {
  const { truth } = scene;
  const device = scene.people.flatMap(({ devices }) => devices).find((one) => one === actor);
  const of = Object.entries(actor.record().resources)
    .filter(([, { pin }]) => (truth.stateAt(pin.hash)?.forgeries.length ?? 0) > 0)
    .map(([name]) => name as Res) // a record has the names of histories
    .find((name) => !name.startsWith("org:"));
  if (device === undefined || of === undefined) return [];
  const use = (): Deed => {
    const made = of.startsWith("vault:")
      ? vaultDeed(scene, random, device, of)
      : random.pick([readAs, writeAs])(scene, random, device, of);
    return made as Deed; // the folder is given
  };
  const looks = { name: "look at the members", actor, run: () => device.client.members.confirmed() };
  const again = {
    name: "restart",
    actor,
    run: () => {
      device.restart();
      return Promise.resolve();
    },
  };
  return [looks, ...(random.below(2) === 0 ? [again] : []), use(), use()];
}

export function isRight(scene: Scene, { id, public_key }: Pick<KeyHolder, "id" | "public_key">): Promise<boolean> {
  return Promise.resolve(scene.isRight(id, public_key));
}

function isInvitedBy({ truth }: Scene, tag: string, { who }: Device): boolean {
  const invited = truth
    .folders()
    .filter((res) => truth.history(res).some(({ claims }) => claims.invite?.some((one) => one.tag === tag)));
  return invited.some((res) => truth.newest(res)?.holders.get(who)?.perm === "manage");
}

type Reader = Device | Machine;
type SecretsOf = NonNullable<Machine["client"]>;

function secretsOf(reader: Reader): Pick<SecretsOf, "read" | "set" | "list" | "folders"> | undefined {
  return "person" in reader ? reader.client.secrets : reader.client;
}

function readAs(scene: Scene, random: Random, reader: Reader, res: Res | undefined): Deed | undefined {
  if (res === undefined) return undefined;
  const title = random.pick(titles);
  return { name: "read", actor: reader, res, run: () => readOne(scene, reader, res, title) };
}

/** Reads one secret by its title or another name, and reports the value to the oracle. */
export async function readOne(
  scene: Scene,
  reader: Reader,
  res: Res,
  title: string,
  name = title,
): Promise<string | undefined> {
  const value = await secretsOf(reader)?.read(`coffer://${idOf(res)}/${name}/field/v`);
  if (value !== undefined) scene.oracle.reads(reader, res, title, value);
  return value;
}

function writeAs(scene: Scene, random: Random, writer: Reader, res: Res | undefined): Deed | undefined {
  if (res === undefined) return undefined;
  const title = random.pick(titles);
  return { name: "write", actor: writer, res, run: () => writeOne(scene, writer, res, title) };
}

export async function writeOne(scene: Scene, writer: Reader, res: Res, title: string, name = title): Promise<string> {
  const value = scene.nextValue();
  scene.writing.set(writer, { value, title });
  try {
    await secretsOf(writer)?.set(`coffer://${idOf(res)}/${name}/field/v`, value);
    return value;
  } finally {
    scene.writing.delete(writer);
  }
}

/** Reports the reader's present keys. */
export async function openAs(scene: Scene, reader: Reader): Promise<void> {
  const folders = (await secretsOf(reader)?.folders()) ?? [];
  for (const folder of folders) sayKey(scene, reader, folder);
}

function sayKey({ oracle }: Scene, reader: Reader, { id, key }: UsableFolder): void {
  if (key !== null) oracle.uses(reader, `folder:${id}`, encodeBase64(key), "it uses the key");
}

async function listAs(scene: Scene, reader: Reader): Promise<void> {
  for (const { folder_id: id, title, fields } of (await secretsOf(reader)?.list()) ?? [])
    scene.oracle.reads(reader, `folder:${id}`, title, fields["v"] ?? "");
}

async function rotate({ client }: Device, res: Res): Promise<void> {
  await client.folders.rotate(idOf(res));
}

function createFolder(random: Random, by: Device | undefined): Deed | undefined {
  if (by === undefined) return undefined;
  const name = `folder ${random.below(1_000)}`;
  return { name: "create a folder", actor: by, run: () => by.client.folders.create(name) };
}

async function adopt(scene: Scene, { client, person }: Device, number: number): Promise<void> {
  const id = await scene.olderFolder(person, `older ${number}`);
  if (id === undefined) return;
  const adopted = client.folders.adopt(
    id,
    (holder) => isRight(scene, holder),
    () => Promise.resolve(true),
  );
  person.accepted.add(`folder:${id}`);
  await adopted;
}

async function acceptAll(scene: Scene, device: Device): Promise<void> {
  for (const { id, problem } of await device.client.folders.list()) {
    const res: Res = `folder:${id}`;
    if (problem !== "not_accepted" || scene.truth.history(res).length === 0) continue;
    device.accepted.add(res);
    await device.client.folders.accept(id);
  }
}

function tokenFor(
  scene: Scene,
  random: Random,
  by: Device | undefined,
  manager: (res: Res) => Device | undefined,
): Deed | undefined {
  const chosen = scene.truth.folders().filter((res) => manager(res)?.who === by?.who && random.below(2) === 0);
  if (by === undefined || chosen.length === 0) return undefined;
  const folders = chosen.map((res) => ({ folderId: idOf(res), permission: random.pick(["read", "write"] as const) }));
  if (random.below(5) === 0)
    return {
      name: "make a token of the service",
      actor: by,
      run: async () => scene.tokens.push(await scene.serviceToken(by.person, folders)),
    };
  const name = `machine ${scene.tokens.length + 1}`;
  return {
    name: "make a token",
    actor: by,
    async run() {
      const { token } = await by.client.tokens.create({ applicationId: scene.applicationId(), name, folders });
      await readAccessToken(token);
      scene.tokens.push(token);
    },
  };
}

function spendToken(scene: Scene, random: Random): Deed | undefined {
  if (scene.tokens.length === 0 || random.below(4) === 0) return undefined;
  const [token] = scene.tokens.splice(random.below(scene.tokens.length), 1);
  const machine = newMachine(scene, `machine ${scene.machines.length + 1}`, random.below(3) === 0);
  scene.machines.push(machine);
  const savesBefore = random.below(3) === 0 ? 1 + random.below(3) : 99;
  return { name: "bootstrap", actor: machine, run: () => bootstrapped(scene, machine, token, savesBefore) };
}

async function bootstrapped(
  scene: Scene,
  machine: Machine,
  token: string | undefined,
  savesBefore: number,
): Promise<void> {
  const configuration = await machine.begin(token, savesBefore);
  for (const { id, key, key_version } of configuration.folders) {
    const pin = configuration.histories?.resources[`folder:${id}`]?.pin;
    const state = pin === undefined ? undefined : scene.truth.stateAt(pin.hash);
    if (key !== null && state?.ver === key_version)
      scene.oracle.uses(machine, `folder:${id}`, key, "it stores the key");
  }
}

async function confirmMachines(scene: Scene, { client }: Device): Promise<void> {
  for (const { client_id } of await client.machines.list(scene.applicationId()))
    await client.machines.confirm(scene.applicationId(), client_id, (holder) => isRight(scene, holder));
}

function invite(scene: Scene, random: Random, by: Device | undefined): Deed | undefined {
  const outside = scene.people.filter(({ who, corrupt }) => !corrupt && !scene.isMember(who) && !scene.wasRemoved(who));
  if (by === undefined || outside.length === 0) return undefined;
  const person = random.pick(outside);
  const role = random.pick(["admin", "member"] as const);
  return {
    name: `invite ${person.email}`,
    actor: by,
    async run() {
      const { token } = await by.client.invites.create(person.email, role);
      scene.invitations.push({ person, token });
    },
  };
}

function changeRole(scene: Scene, random: Random, by: Device | undefined): Deed | undefined {
  const others = scene.people.filter(
    (one) => !one.corrupt && one !== by?.person && one !== scene.owner() && scene.isMember(one.who),
  );
  if (by === undefined || others.length === 0) return undefined;
  const target = random.pick(others);
  const role = random.pick(["admin", "member"] as const);
  return {
    name: `make ${target.email} ${role}`,
    actor: by,
    run: () => by.client.members.update(personOf(target.who), { role }),
  };
}

function removeMember(scene: Scene, random: Random, by: Device | undefined): Deed | undefined {
  const able = (one: Person): boolean =>
    !one.corrupt && one !== by?.person && one !== scene.owner() && scene.isMember(one.who);
  const others = scene.people.filter(able);
  // Some members must stay active.
  if (by === undefined || others.length < 3) return undefined;
  const { truth } = scene;
  const managers = others.filter(({ who }) =>
    [...truth.folders(), ...truth.vaults()].some((res) => truth.newest(res)?.holders.get(who)?.perm === "manage"),
  );
  const target = random.pick(managers.length > 0 ? managers : others);
  const force = random.below(3) === 0;
  const isRotated = random.below(3) === 0;
  return {
    name: isRotated ? "rotate" : `remove ${target.email}`,
    actor: by,
    async run() {
      const { rotate: named } = await by.client.members.remove(personOf(target.who), { force });
      if (!isRotated) return;
      for (const { kind, id } of named)
        if (kind === "folder") await rotate(by, `folder:${id}`);
        else await by.client.vaults.rotate(id);
    },
  };
}
