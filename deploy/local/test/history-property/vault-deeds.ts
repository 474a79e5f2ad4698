import type { Random } from "@coffer/testkit";
import { type Deed, idOf, permissions, personOf } from "./deed.ts";
import type { Device } from "./people.ts";
import type { Scene } from "./scene.ts";
import type { Res } from "./truth.ts";

const mostVaults = 3;
/** The name of every record of the test. */
const title = "record";

/** The actions of a person with vaults, as often as they occur. */
export function vaultDeeds(
  scene: Scene,
  random: Random,
  devices: readonly Device[],
  device: Device,
): [number, () => Deed | undefined][] {
  const { truth, people } = scene;
  const vaults = truth.vaults();
  const held = vaults.filter((one) => truth.newest(one)?.holders.has(device.who) === true);
  const some = held.length > 0 && random.below(8) > 0 ? held : vaults;
  const res = some.length === 0 ? undefined : random.pick(some);
  const exposed = vaults.filter((one) => scene.isExposed(one));
  const about = exposed.length > 0 && random.below(2) === 0 ? random.pick(exposed) : res;
  const managers = devices.filter(
    ({ who }) => about !== undefined && truth.newest(about)?.holders.get(who)?.perm === "manage" && scene.isMember(who),
  );
  const manager = managers.length === 0 ? undefined : random.pick(managers);
  const holders = devices.filter(
    ({ who }) => about !== undefined && truth.newest(about)?.holders.has(who) === true && scene.isMember(who),
  );
  const holder = holders.length === 0 ? undefined : random.pick(holders);
  const deed = (name: string, actor: Device | undefined, run: (actor: Device, res: Res) => Promise<unknown>) =>
    actor === undefined || about === undefined ? undefined : { name, actor, res: about, run: () => run(actor, about) };
  const owner = scene.owner().devices[0];
  return [
    [
      vaults.length < mostVaults ? 8 : 0,
      () => ({
        name: "create a vault",
        actor: device,
        run: () => device.client.vaults.create(`vault ${random.below(1_000)}`, { type: "shared" }),
      }),
    ],
    [1, () => ({ name: "use a personal vault", actor: device, run: () => usePersonal(scene, device) })],
    [10, () => deed("read records", holder, (actor, one) => readRecords(scene, actor, one))],
    [8, () => deed("write a record", holder, (actor, one) => writeRecord(scene, actor, one))],
    [3, () => deed("read records", device, (actor, one) => readRecords(scene, actor, one))],
    [3, () => ({ name: "list vaults", actor: device, run: () => device.client.vaults.list() })],
    [4, () => ({ name: "accept vaults", actor: device, run: () => acceptVaults(scene, device) })],
    [
      7,
      () => {
        const target = random.pick(people.filter(({ who }) => scene.isMember(who)));
        const permission = target.corrupt ? "read" : random.pick(permissions);
        return target.who === manager?.who
          ? undefined
          : deed(`share ${permission} with ${target.email}`, manager, (by, one) =>
              by.client.vaults.share(idOf(one), { userId: personOf(target.who), permission }),
            );
      },
    ],
    [6, () => deed("rotate", manager, (by, one) => by.client.vaults.rotate(idOf(one)))],
    [
      3,
      () => {
        const others = [...(truth.newest(about ?? "vault:")?.holders.keys() ?? [])].filter(
          (who) => who !== manager?.who,
        );
        if (others.length === 0) return undefined;
        const target = random.pick(others);
        return deed("rotate", manager, (by, one) => by.client.vaults.unshare(idOf(one), personOf(target)));
      },
    ],
    [
      2,
      () =>
        deed("rename", manager, (by, one) =>
          by.client.vaults.update(idOf(one), { name: `vault ${random.below(1_000)}` }),
        ),
    ],
    [
      1,
      () =>
        device.person === scene.owner() || owner === undefined
          ? undefined
          : { name: "travel", actor: device, run: () => travel(scene, device, owner) },
    ],
  ];
}

/** Reads or writes in a vault. */
export function vaultDeed(scene: Scene, random: Random, actor: Device, res: Res): Deed {
  return random.below(2) === 0
    ? { name: "read records", actor, res, run: () => readRecords(scene, actor, res) }
    : { name: "write a record", actor, res, run: () => writeRecord(scene, actor, res) };
}

/** Reads all records of a vault, and reports their values to the oracle. */
export async function readRecords({ oracle }: Scene, device: Device, res: Res): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { id, fields } of await device.client.records.list(idOf(res))) {
    const value = fields["v"] ?? "";
    found.set(id, value);
    oracle.reads(device, res, title, value);
  }
  return found;
}

/** Changes the first record of a vault, or makes one. */
export async function writeRecord(scene: Scene, device: Device, res: Res): Promise<void> {
  const value = scene.nextValue();
  const record = { type: "login", fields: { name: title, v: value } };
  scene.writing.set(device, { value, title });
  try {
    const [id] = scene.truth.secrets.get(res)?.keys() ?? [];
    if (id === undefined) await device.client.records.create(idOf(res), record);
    else await device.client.records.update(idOf(res), id, record);
  } finally {
    scene.writing.delete(device);
  }
}

async function usePersonal(scene: Scene, device: Device): Promise<void> {
  const { client } = device;
  const own = [...scene.truth.personal.keys()].find((res) =>
    scene.truth.keysOf(res).some(({ knowers }) => knowers.has(device.who)),
  );
  if (own === undefined) await client.vaults.create("own");
  else await writeRecord(scene, device, own);
}

async function acceptVaults(scene: Scene, device: Device): Promise<void> {
  for (const { id, problem } of await device.client.vaults.list()) {
    const res: Res = `vault:${id}`;
    if (problem !== "not_accepted" || scene.truth.history(res).length === 0) continue;
    device.accepted.add(res);
    await device.client.vaults.accept(id);
  }
}

/** A person travels, and this device forgets unsafe vaults; later an owner ends it. */
async function travel(scene: Scene, device: Device, owner: Device): Promise<void> {
  try {
    await device.client.travel.start();
    // Hidden vaults must be forgotten.
    for (const res of device.seen.keys()) if (res.startsWith("vault:")) scene.oracle.forgives(device, res);
    await device.client.travel.forgetHidden();
  } finally {
    await scene.atHome(owner, personOf(device.who));
  }
}
