import { fingerprint, newId } from "@coffer/crypto";
import { emptyTrust, personClient, type Secret } from "@coffer/sdk";
import { accountSecurity, login, recover } from "@coffer/sdk/account";
import { mark } from "./attacker.ts";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";
import { database, expiresAt, field, read, saidOf, saidValue, type Step } from "./step.ts";
import { bootstrapped, emailOf, impatient, newPerson, password, type Person, personOf } from "./world.ts";

const readers: Step[] = (["olivia", "anna", "bob"] as const).flatMap((who) => [
  read("lists folders", who, async (me) =>
    // The name of an unusable folder is the service's, and shown as such.
    (await me.folders.list())
      .filter(({ problem }) => problem === null)
      .map(({ id, name }) => ({ kind: "name", res: `folder:${id}`, name })),
  ),
  read("lists secrets", who, async (me) => saidOf(await me.secrets.list())),
  read("reads a value", who, async (me, { world }) => {
    const value = await me.secrets.read(field("production", database, "password"));
    return saidValue(world.folders.production, database, "password", value);
  }),
  read("reads members' keys", who, async (me, { world }) => {
    const confirmed = await me.members.confirmed();
    // The shown key of another person is for a comparison, not for sealing.
    await me.members.publicKey(world.people.anna.session.user.id);
    const own = await me.fingerprint();
    const genuine = await fingerprint(world.people[who].publicKey);
    return [
      ...confirmed.map(({ user_id, public_key }) => ({
        kind: "key" as const,
        who: `user:${user_id}`,
        publicKey: public_key,
      })),
      { kind: "text", text: own.hex === genuine.hex ? "" : `${mark}: another fingerprint of one's own` },
    ];
  }),
]);

export const people: Step[] = [
  ...readers,
  read("reads several values", "olivia", async (me, { world }) => {
    const names = ["production", "staging", "private"] as const;
    const values = await me.secrets.readAll(names.map((name) => field(name, database, "password")));
    return names.flatMap((name) => {
      const value = values.get(field(name, database, "password")) ?? "";
      return saidValue(world.folders[name], database, "password", value);
    });
  }),
  read("lists one folder", "olivia", async (me) => saidOf(await me.secrets.list("staging"))),
  read("searches", "olivia", async (me) => saidOf(await me.secrets.search("data"))),
  read("gets a secret", "olivia", async (me, { world }) => {
    const all = await clientSecrets(world.people.olivia, world.wire);
    return saidOf([await me.secrets.get(all[0]?.uid ?? "")]);
  }),
  read("reads the account", "olivia", async (me) => {
    await me.account();
    await me.organizations.list();
    await me.organizations.current();
    return [];
  }),
  read("looks at lists", "olivia", async (me, { world }) => {
    await me.folders.holders(world.folders.production);
    await me.members.list();
    await me.applications.list();
    await me.tokens.list(world.application);
    await me.machines.list(world.application);
    await me.invites.list();
    await me.sessions.list();
    await me.members.sessions(world.people.bob.session.user.id);
    await me.stillNaming(`user:${world.people.mallory.session.user.id}`);
    await me.travel.status();
    return [];
  }),
  read("reads the audit", "olivia", async (me) => {
    for await (const page of me.audit({ limit: 5 })) if (page.records.length >= 0) break;
    return [];
  }),
  read("sets a value", "olivia", async (me, { world, run }) => {
    world.truth.value(world.folders.production, "written", "password", `written in run ${run}`);
    await me.secrets.set(field("production", "written", "password"), `written in run ${run}`);
    return [];
  }),
  read("sets a value", "bob", async (me, { world, run }) => {
    world.truth.value(world.folders.staging, database, "password", `written in run ${run}`);
    await me.secrets.set(field("staging", database, "password"), `written in run ${run}`);
    return [];
  }),
  {
    name: "olivia: makes a secret",
    async play(stage) {
      const { world, run } = stage;
      const { olivia } = world.people;
      world.truth.value(world.folders.private, `secret ${run}`, "password", `made in run ${run}`);
      try {
        const { secrets } = stage.person(olivia);
        await secrets.set(field("private", `secret ${run}`, "password"), `made in run ${run}`, { expiresAt });
      } finally {
        const all = await stage.honest(olivia).secrets.list("private");
        for (const { uid } of all.filter(({ title }) => title.startsWith("secret ")))
          await stage.honest(olivia).secrets.remove(uid);
      }
      return [];
    },
  },
  {
    name: "olivia: removes a field",
    async play(stage) {
      const { world } = stage;
      const { olivia } = world.people;
      world.truth.value(world.folders.private, "temporary", "password", "temporary password");
      world.truth.value(world.folders.private, "temporary", "username", "temporary username");
      await stage.honest(olivia).secrets.set(field("private", "temporary", "password"), "temporary password");
      await stage.honest(olivia).secrets.set(field("private", "temporary", "username"), "temporary username");
      await stage.person(olivia).secrets.remove(field("private", "temporary", "username"));
      return [];
    },
  },
  {
    name: "olivia: makes, renames and removes a folder",
    async play(stage) {
      const { world, run } = stage;
      const me = stage.person(world.people.olivia);
      try {
        const { id } = await me.folders.create(`folder ${run}`);
        world.truth.name(`folder:${id}`, `folder ${run}`);
        world.truth.name(`folder:${id}`, `folder ${run}, renamed`);
        const { name } = await me.folders.rename(id, `folder ${run}, renamed`);
        await me.folders.remove(id, { force: true });
        return [{ kind: "name", res: `folder:${id}`, name }];
      } finally {
        await removeFolders(stage);
      }
    },
  },
  ...(["production", "staging"] as const).map((folder) => ({
    name: `olivia: rotates ${folder}`,
    async play({ world, person }: Stage): Promise<Said[]> {
      const { name } = await person(world.people.olivia).folders.rotate(world.folders[folder]);
      return [{ kind: "name", res: `folder:${world.folders[folder]}`, name }];
    },
  })),
  read("rotates production", "anna", async (me, { world }) => {
    await me.folders.rotate(world.folders.production);
    return [];
  }),
  read("shares a folder", "olivia", async (me, { world, run }) => {
    const { id } = world.people.anna.session.user;
    const permission = run % 2 === 0 ? "read" : "write";
    world.truth.grant(`folder:${world.folders.staging}`, `user:${id}`, permission);
    await me.folders.share(world.folders.staging, { userId: id, permission });
    return [];
  }),
  {
    name: "olivia: takes a folder away",
    async play(stage) {
      const { world } = stage;
      const { olivia, anna } = world.people;
      const { id } = anna.session.user;
      world.truth.grant(`folder:${world.folders.staging}`, `user:${id}`, "read");
      await stage.honest(olivia).folders.share(world.folders.staging, { userId: id, permission: "read" });
      await stage.person(olivia).folders.unshare(world.folders.staging, id);
      return [];
    },
  },
  {
    name: "bob: accepts a folder, and reads it",
    async play(stage) {
      const { world, run } = stage;
      const { olivia, bob } = world.people;
      const title = `gift ${run}`;
      try {
        const { id } = await stage.honest(olivia).folders.create(`folder ${run}`);
        world.truth.name(`folder:${id}`, `folder ${run}`);
        world.truth.value(id, title, "password", `given in run ${run}`);
        world.truth.grant(`folder:${id}`, `user:${bob.session.user.id}`, "read");
        await stage.honest(olivia).secrets.set(field(id, title, "password"), `given in run ${run}`);
        await stage.honest(olivia).folders.share(id, { userId: bob.session.user.id, permission: "read" });
        const me = stage.person(bob);
        const offer = await me.folders.offer(id);
        if (offer.from !== olivia.email) return [];
        await me.folders.accept(id);
        return [{ kind: "name", res: `folder:${offer.id}`, name: offer.name }, ...saidOf(await me.secrets.list(id))];
      } finally {
        await removeFolders(stage);
      }
    },
  },
  {
    name: "olivia: changes a role",
    async play(stage) {
      const { olivia, bob } = stage.world.people;
      const { id } = bob.session.user;
      try {
        stage.world.truth.grant(`org:${stage.world.org}`, `user:${id}`, "manage");
        await stage.person(olivia).members.update(id, { role: "admin" });
      } finally {
        await stage.honest(olivia).members.update(id, { role: "member" });
      }
      return [];
    },
  },
  {
    name: "olivia: invites, a newcomer joins, olivia removes them",
    slow: true,
    async play(stage) {
      const { world, wire, lie } = stage;
      const { olivia } = world.people;
      const email = emailOf("newcomer");
      try {
        const { token } = await stage.person(olivia).invites.create(email, "member");
        world.truth.secret(token);
        const newcomer = await newPerson(wire, world.truth, "newcomer", { email, inviteToken: token }, lie);
        await stage.person(newcomer).invites.accept(token);
        await stage.person(olivia).members.remove(newcomer.session.user.id);
        return [];
      } finally {
        await removeNewcomers(stage);
      }
    },
  },
  {
    name: "olivia: makes a machine, which bootstraps and reads",
    async play(stage) {
      const { world, wire, lie } = stage;
      const { olivia } = world.people;
      const folders = [{ folderId: world.folders.production, permission: "read" as const }];
      const made = await stage
        .person(olivia)
        .tokens.create({ applicationId: world.application, name: "newcomer", folders });
      const configuration = await bootstrapped(
        wire,
        world.truth,
        { name: "newcomer", token: made.token, folders },
        lie,
      );
      const machine = { name: "newcomer", application: world.application, configuration };
      const said = saidOf(await stage.machine(machine).list());
      await stage.person(olivia).machines.remove(world.application, configuration.client_id);
      return said;
    },
  },
  read("shares a folder with a machine", "olivia", async (me, { world, run, compare }) => {
    const { client_id: clientId } = world.machines.worker.configuration;
    const permission = run % 2 === 0 ? "read" : "write";
    world.truth.grant(`folder:${world.folders.staging}`, `client:${clientId}`, permission);
    await me.machines.share(world.application, { clientId, folderId: world.folders.staging, permission }, compare);
    return [];
  }),
  {
    name: "olivia: makes, changes and removes an application",
    async play(stage) {
      const { world, run } = stage;
      const { olivia } = world.people;
      const me = stage.person(olivia);
      try {
        const { id } = await me.applications.create(`application ${run}`);
        // Ids of applications are the service's own: it may use any.
        if (id === world.application) return [];
        await me.applications.update(id, { description: "of a run" });
        await me.applications.remove(id);
        return [];
      } finally {
        const { applications } = stage.honest(olivia);
        for (const { id, name } of await applications.list())
          if (name.startsWith("application ")) await applications.remove(id);
      }
    },
  },
  {
    name: "a newcomer registers with an organization and a folder",
    slow: true,
    async play(stage) {
      const { world, wire, lie, run } = stage;
      const newcomer = await newPerson(wire, world.truth, "newcomer", { organization: `Org ${run}` }, lie);
      const me = stage.person(newcomer);
      const { id } = await me.folders.create("production");
      world.truth.name(`folder:${id}`, "production");
      world.truth.value(id, database, "password", `registered in run ${run}`);
      await me.secrets.set(field(id, database, "password"), `registered in run ${run}`);
      return saidOf(await me.secrets.list());
    },
  },
  {
    name: "olivia: logs in at a new device, and reads",
    slow: true,
    async play(stage) {
      const { world } = stage;
      const session = await loggedIn(stage, world.people.olivia);
      return saidOf(await stage.newDevice({ ...world.people.olivia, session }).secrets.list());
    },
  },
  {
    name: "bob: logs in at a new device, and reads",
    slow: true,
    async play(stage) {
      const { world } = stage;
      const session = await loggedIn(stage, world.people.bob);
      return saidOf(await stage.newDevice({ ...world.people.bob, session }).secrets.list());
    },
  },
  {
    name: "a newcomer changes the password, recovers the account, and reads",
    slow: true,
    async play(stage) {
      const { world, wire, lie, run } = stage;
      const { truth } = world;
      const newcomer = await newPerson(wire, truth, "newcomer", { organization: `Org ${run}` });
      const honest = stage.honest(newcomer);
      const { id } = await honest.folders.create("production");
      truth.name(`folder:${id}`, "production");
      truth.value(id, database, "password", `stored in run ${run}`);
      await honest.secrets.set(field(id, database, "password"), `stored in run ${run}`);
      const options = { ...impatient, fetch: wire.network("newcomer", lie) };
      const security = accountSecurity(newcomer.session, wire.url, options);
      const changed = await security.changePassword({ password, newPassword: `${password} again` });
      const { email, recoveryKey } = newcomer;
      const device = { id: newId(), name: "test", type: "cli" };
      const recovered = await recover(
        { url: wire.url, email, recoveryKey, newPassword: `${password} at last`, device },
        options,
      );
      const after = await personOf(truth, "newcomer", email, recovered.session, recovered.recoveryKey, emptyTrust());
      if (changed.session.public_key !== newcomer.publicKey || after.publicKey !== newcomer.publicKey)
        return [{ kind: "key", who: `user:${newcomer.session.user.id}`, publicKey: after.publicKey }];
      return saidOf(await stage.newDevice(after).secrets.list());
    },
  },
];

async function clientSecrets(person: Person, wire: Stage["wire"]): Promise<Secret[]> {
  return personClient(person.session, wire.url, { trust: person.trust }).secrets.list();
}

async function loggedIn({ wire, lie, world }: Stage, { email, session, name }: Person): Promise<Person["session"]> {
  const device = { id: newId(), name: "test", type: "cli" };
  const options = { ...impatient, fetch: wire.network(name, lie) };
  const opened = await login({ url: wire.url, email, password, device }, options);
  await personOf(world.truth, name, email, opened, session.user_key, emptyTrust());
  return opened;
}

async function removeFolders({ honest, world }: Stage): Promise<void> {
  const me = honest(world.people.olivia);
  for (const { id, name } of await me.folders.list())
    if (name.startsWith("folder ")) await me.folders.remove(id, { force: true });
}

async function removeNewcomers({ honest, world }: Stage): Promise<void> {
  const me = honest(world.people.olivia);
  for (const { id, email } of await me.invites.list()) if (email.startsWith("newcomer")) await me.invites.remove(id);
  for (const { user_id, email } of await me.members.list())
    if (email.startsWith("newcomer")) await me.members.remove(user_id);
}
