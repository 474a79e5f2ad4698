import { setTimeout as pause } from "node:timers/promises";
import { newId } from "@coffer/crypto";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";
import { read, saidOfRecords, type Step } from "./step.ts";

/** An own vault with a record, made honestly, and removed afterwards. */
async function withVault(stage: Stage, play: (vault: string, record: string) => Promise<Said[]>): Promise<Said[]> {
  const { world, run } = stage;
  const me = stage.honest(world.people.olivia);
  const { id } = await me.vaults.create(`vault ${run}`);
  try {
    world.truth.name(`vault:${id}`, `vault ${run}`);
    const record = await me.records.create(id, {
      type: "login",
      fields: { name: "Example", password: `stored in run ${run}` },
    });
    world.truth.value(id, record.id, "password", `stored in run ${run}`);
    world.truth.value(id, record.id, "name", "Example");
    return await play(id, record.id);
  } finally {
    await me.vaults.remove(id);
  }
}

export const vaults: Step[] = [
  {
    name: "olivia: lists vaults and records",
    play: (stage) =>
      withVault(stage, async (vault, record) => {
        const me = stage.person(stage.world.people.olivia);
        await me.vaults.list();
        return saidOfRecords([...(await me.records.list(vault)), await me.records.get(vault, record)]);
      }),
  },
  {
    name: "olivia: writes records",
    play: (stage) =>
      withVault(stage, async (vault, record) => {
        const { world, run } = stage;
        const me = stage.person(world.people.olivia);
        world.truth.value(vault, record, "password", `changed in run ${run}`);
        await me.records.change(vault, record, ({ fields }) => ({
          fields: { ...fields, password: `changed in run ${run}` },
        }));
        const made = newId();
        world.truth.value(vault, made, "password", `made in run ${run}`);
        await me.records.create(vault, { id: made, type: "login", fields: { password: `made in run ${run}` } });
        const [imported = ""] = await me.records.stableIds(vault, ["a record"]);
        world.truth.value(vault, imported, "password", `imported in run ${run}`);
        await me.records.import(vault, [
          { id: imported, type: "login", fields: { password: `imported in run ${run}` } },
        ]);
        await me.records.remove(vault, made);
        return saidOfRecords(await me.records.list(vault));
      }),
  },
  {
    name: "olivia: makes, changes and removes a vault",
    async play(stage) {
      const { world, run } = stage;
      const me = stage.person(world.people.olivia);
      const { id } = await me.vaults.create(`vault ${run}`);
      world.truth.value(id, id, "password", `made in run ${run}`);
      await me.records.create(id, { id, type: "login", fields: { password: `made in run ${run}` } });
      await me.vaults.update(id, { name: `vault ${run}, renamed`, safeForTravel: true });
      const said = saidOfRecords(await me.records.list(id));
      await me.vaults.remove(id);
      return said;
    },
  },
  {
    name: "olivia: follows vaults live",
    play: (stage) =>
      withVault(stage, async () => {
        const { world, wire, lie } = stage;
        const said: Said[] = [];
        const sync = await stage.person(world.people.olivia).sync({
          webSocket: wire.sockets(world.people.olivia.name, lie),
          onChange: (changes) => {
            for (const change of changes) if ("record" in change) said.push(...saidOfRecords([change.record]));
          },
        });
        try {
          await Promise.race([sync.ready, pause(syncMilliseconds)]);
          return [...said, ...saidOfRecords(await sync.records())];
        } finally {
          await sync.stop();
        }
      }),
  },
];

/** Steps with the vault that the team shares. */
export const shared: Step[] = [
  ...(["olivia", "bob"] as const).map((who) =>
    read("looks into the shared vault", who, async (me) => {
      const { id, name } = await me.vaults.find("team");
      return [{ kind: "name", res: `vault:${id}`, name }, ...saidOfRecords(await me.records.list(id))];
    }),
  ),
  ...(["olivia", "bob"] as const).map((who) =>
    read("writes into the shared vault", who, async (me, { world, run }) => {
      const { id, record } = world.team;
      world.truth.value(id, record, "password", `written in run ${run}`);
      await me.records.change(id, record, ({ fields }) => ({
        fields: { ...fields, password: `written in run ${run}` },
      }));
      return saidOfRecords([await me.records.get(id, record)]);
    }),
  ),
  ...(["olivia", "anna"] as const).map((who) =>
    read("rotates the shared vault", who, async (me, { world }) => {
      const { name } = await me.vaults.rotate(world.team.id);
      return [{ kind: "name", res: `vault:${world.team.id}`, name }];
    }),
  ),
  read("shares the vault", "olivia", async (me, { world, run }) => {
    const { id } = world.people.bob.session.user;
    const permission = run % 2 === 0 ? "manage" : "write";
    world.truth.grant(`vault:${world.team.id}`, `user:${id}`, permission);
    await me.vaults.members(world.team.id);
    await me.vaults.share(world.team.id, { userId: id, permission });
    return [];
  }),
  {
    name: "bob: accepts a vault, and loses it again",
    async play(stage) {
      const { world, run } = stage;
      const { olivia, bob } = world.people;
      const owner = stage.honest(olivia);
      const { id } = await owner.vaults.create(`vault ${run}`, { type: "shared" });
      try {
        world.truth.name(`vault:${id}`, `vault ${run}`);
        world.truth.grant(`vault:${id}`, `user:${bob.session.user.id}`, "read");
        world.truth.value(id, id, "password", `given in run ${run}`);
        await owner.records.create(id, { id, type: "login", fields: { password: `given in run ${run}` } });
        await owner.vaults.share(id, { userId: bob.session.user.id, permission: "read" });
        const me = stage.person(bob);
        const offer = await me.vaults.offer(id);
        if (offer.from !== olivia.email) return [];
        await me.vaults.accept(id);
        const said = saidOfRecords(await me.records.list(id));
        await stage.person(olivia).vaults.unshare(id, bob.session.user.id);
        return [{ kind: "name", res: `vault:${offer.id}`, name: offer.name }, ...said];
      } finally {
        await owner.vaults.remove(id);
      }
    },
  },
  {
    name: "bob: at a new device looks into the shared vault",
    async play(stage) {
      const { world } = stage;
      return saidOfRecords(await stage.newDevice(world.people.bob).records.list(world.team.id));
    },
  },
  {
    name: "olivia: makes, renames and removes a shared vault",
    async play(stage) {
      const { world, run } = stage;
      const me = stage.person(world.people.olivia);
      const { id } = await me.vaults.create(`vault ${run}`, { type: "shared" });
      world.truth.name(`vault:${id}`, `vault ${run}, renamed`);
      const { name } = await me.vaults.update(id, { name: `vault ${run}, renamed` });
      await me.vaults.remove(id);
      return [{ kind: "name", res: `vault:${id}`, name }];
    },
  },
];

/** The time after which a deceived device counts as waiting for better responses. */
const syncMilliseconds = 1500;
