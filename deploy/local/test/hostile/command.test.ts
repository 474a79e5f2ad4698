import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { contexts, fingerprint, keyCheck } from "@coffer/crypto";
import { createRandom, testDirectory } from "@coffer/testkit";
import { type Cli, newCli } from "../cli/cli-person.ts";
import { newScene } from "./attack.ts";
import { claimsOf, forgeAfter, mark, sealedKey } from "./attacker.ts";
import {
  all,
  eachItem,
  folderLists,
  forgeRecords,
  forgeSecrets,
  handOut,
  handOutVault,
  type Json,
  refuse,
  replay,
  rewrite,
  secretLists,
  showHistory,
  storedHistory,
} from "./lies.ts";
import { limits } from "./limits.ts";
import { describe, lieOf, liesAbout } from "./substitutions.ts";
import { createWire, type Lie, startHostileServer } from "./wire.ts";
import { type Machine, password, type Person } from "./world.ts";
import { npmStart } from "../npm-start.ts";

// The command against a server that lies: attacks by their names, and lies about single members of answers.

const hostile = await startHostileServer(t);
const server = npmStart(t, { directory: testDirectory(t), env: { ...limits, COFFER_BASE_URL: hostile.url } });
const wire = createWire(hostile.url, (await server.ready).url);
hostile.wire = wire;
const scene = await newScene(wire);
const { world, oracle } = scene;
const { attacker, people, folders, machines, team } = world;
const { olivia, bob, rita, mallory } = people;
const production = `folder:${folders.production}`;
const by = ({ session }: Person): string => `user:${session.user.id}`;

/** A home in which a person has logged in. */
async function homeOf(person: Person): Promise<Cli> {
  hostile.from = person.name;
  const cli = newCli(t, hostile.url);
  await cli.data(["login", "--email", person.email], { env: { COFFER_PASSWORD: password } });
  return cli;
}
const ofOlivia = await homeOf(olivia);
const ofBob = await homeOf(bob);

/** The configuration file of a machine. */
function fileOf({ name, configuration }: Machine): string {
  const file = join(ofOlivia.home, `${name}.json`);
  writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
  return file;
}
const api = fileOf(machines.api);
const database = "coffer://production/database/field/password";
const env = { DB_PASSWORD: database };

interface Call {
  cli: Cli;
  /** The client of the requests. */
  from: string;
  args: string[];
  lie: Lie;
  input?: string;
  env?: Record<string, string>;
}

/** Runs the command against the lie. Returns its result and problems. */
async function run({ cli, from, args, lie, input, env }: Call) {
  hostile.from = from;
  hostile.lie = lie;
  const outcome = await cli.run(args, {
    ...(input === undefined ? {} : { input }),
    ...(env === undefined ? {} : { env }),
  });
  hostile.lie = undefined;
  const problems = await oracle.verdict({ said: [{ kind: "text", text: outcome.stdout }] });
  if (outcome.code === null || outcome.code > 7) problems.push(`it ends with ${outcome.code ?? "a signal"}`);
  if (/\n\s+at .*:\d+/.test(outcome.stderr)) problems.push(`it shows where it failed: ${outcome.stderr}`);
  return { ...outcome, problems };
}

/** The command fails with this message; nothing of the attacker is printed, used or sealed. */
async function refused(t: Test, title: string, call: Call, says: RegExp): Promise<void> {
  const { code, stdout, stderr, problems } = await run(call);
  t.strictSame(problems, [], title);
  t.ok(code !== 0 && stdout === "" && says.test(stderr), title, { code, stdout, stderr });
}

/** The command behaves as with an honest server. */
async function asHonest(t: Test, title: string, call: Call, prints: RegExp): Promise<void> {
  const { code, stdout, stderr, problems } = await run(call);
  t.strictSame(problems, [], title);
  t.ok(code === 0 && prints.test(stdout), title, { code, stdout, stderr });
}

const asOlivia = (args: string[], lie: Lie, more: Partial<Call> = {}): Call => ({
  cli: ofOlivia,
  from: "olivia",
  args,
  lie,
  ...more,
});
const asBob = (args: string[], lie: Lie, more: Partial<Call> = {}): Call => ({
  cli: ofBob,
  from: "bob",
  args,
  lie,
  ...more,
});
const asMachine = (args: string[], lie: Lie, more: Partial<Call> = {}): Call => ({
  cli: ofOlivia,
  from: "api",
  args: [...args.slice(0, 1), "--config", api, ...args.slice(1)],
  lie,
  ...more,
});
const honestly: Lie = ({ answer }) => answer;
const genuine = /production database password, the second/;
const otherKey = /another key|another one than its managers made|not used/;

// Between two tests no await may stand: the file would end there.
const [ownWords, machineWords, attackersWords] = await Promise.all(
  [olivia.publicKey, machines.api.configuration.public_key, attacker.publicKey].map(
    async (key) => (await fingerprint(key)).words,
  ),
);

await t.test("an honest server", async (t) => {
  await asHonest(t, "an honest server: a person reads", asOlivia(["read", database], honestly), genuine);
  await asHonest(t, "an honest server: a machine reads", asMachine(["read", database], honestly), genuine);
});

const replaced = (publicKey: string): Lie =>
  all(
    handOut(folders.production, attacker.key, publicKey),
    forgeSecrets(folders.production, attacker.key, attacker.dek),
  );
const forOlivia = replaced(olivia.publicKey);
const forMachine = replaced(machines.api.configuration.public_key);
await t.test("a replaced folder key", async (t) => {
  await refused(t, "a replaced folder key: read", asOlivia(["read", database], forOlivia), otherKey);
  await refused(
    t,
    "a replaced folder key: set",
    asOlivia(["set", database], forOlivia, { input: "a new password" }),
    otherKey,
  );
  await refused(t, "a replaced folder key: rotate", asOlivia(["folder", "rotate", "production"], forOlivia), otherKey);
  await refused(t, "a replaced folder key: env", asOlivia(["env", "--folder", "production"], forOlivia), otherKey);
  await refused(
    t,
    "a replaced folder key: a machine reads",
    asMachine(["read", database], forMachine),
    /key|decrypted|opened/,
  );
  await refused(
    t,
    "a replaced folder key: a machine's env",
    asMachine(["env"], forMachine, { env }),
    /key|such secret|opened/,
  );
  await refused(
    t,
    "a replaced folder key: a machine runs",
    asMachine(["run", "--", "printenv", "DB_PASSWORD"], forMachine, { env }),
    /key|such secret|opened/,
  );
});

await t.test("the key from before the rotation", async (t) => {
  const old = replay(world, [...folderLists, ...secretLists]);
  const shorter = showHistory(production, (await storedHistory(world, olivia, production)).slice(0, 8));
  await refused(
    t,
    "the key from before the rotation: read",
    asBob(["read", database], all(old, shorter)),
    /older|another key|rolled back|not used/,
  );
  await refused(
    t,
    "the key from before the rotation: set",
    asOlivia(["set", database], replay(world, folderLists), { input: "a new password" }),
    /older|another key|version/,
  );
});

// Entries of those who may not sign.
await t.test("entries of those who may not sign", async (t) => {
  const history = await storedHistory(world, olivia, production);
  const change = { ver: 3, check: await keyCheck(attacker.key, production, 3) };
  for (const who of [rita, mallory]) {
    const entries = await forgeAfter(history, production, [{ by: by(who), privateKey: who.privateKey, change }]);
    const more = { key_version: 3, history_seq: entries.length - 1 };
    const lie = (publicKey: string): Lie =>
      all(
        showHistory(production, entries),
        handOut(folders.production, attacker.key, publicKey, more),
        forgeSecrets(folders.production, attacker.key, attacker.dek, more),
      );
    await refused(
      t,
      `${who.name} signs a version: a person reads`,
      asBob(["read", database], lie(bob.publicKey)),
      /entry \d+ of the history/,
    );
    await refused(
      t,
      `${who.name} signs a version: a machine reads`,
      asMachine(["read", database], lie(machines.api.configuration.public_key)),
      /entry \d+ of the history/,
    );
  }
});

// Fingerprints are one's own.
const wrongKeys = all(
  rewrite(["GET /api/users/{id}/public_key"], () => ({ public_key: attacker.publicKey, fingerprint: "00".repeat(32) })),
  rewrite(["GET /api/account", "GET /api/sm/v1/client"], (body) => ({ ...body, public_key: attacker.publicKey })),
);
await t.test("whoami shows one's own fingerprint", async (t) => {
  await asHonest(t, "whoami shows one's own fingerprint", asOlivia(["whoami"], wrongKeys), new RegExp(ownWords ?? "-"));
  await asHonest(
    t,
    "whoami of a machine shows its fingerprint",
    asMachine(["whoami"], wrongKeys),
    new RegExp(machineWords ?? "-"),
  );
});

await t.test(
  "member key of oneself shows one's own fingerprint, and fails when the service shows another",
  async (t) => {
    const { code, stdout, problems } = await run(asOlivia(["member", "key", olivia.email], wrongKeys));
    t.strictSame(problems, []);
    t.equal(code, 1);
    t.match(stdout, ownWords);
    t.notMatch(stdout, attackersWords);
  },
);

// Holders that the service invents.
const forged = {
  kind: "client",
  id: attacker.id,
  name: "api",
  permission: "read",
  public_key: attacker.publicKey,
  has_key: false,
};
const added = (item: Json): Lie =>
  rewrite(["GET /api/org/folders/{id}/members"], (body) => ({ data: [...(body["data"] as Json[]), item] }));
await t.test("a forged machine at a rotation gets no key", async (t) => {
  const { problems, stderr } = await run(asOlivia(["folder", "rotate", "production"], added(forged)));
  t.strictSame(problems, [], stderr);
});
await t.test("a forged machine waits for a key", async (t) => {
  const { problems, stderr } = await run(asOlivia(["read", database], added(forged)));
  t.strictSame(problems, [], stderr);
});
const membersAgain: Lie = rewrite(["GET /api/org/members"], (body) => ({
  data: [
    ...(body["data"] as Json[]),
    {
      user_id: mallory.session.user.id,
      name: "mallory",
      email: mallory.email,
      role: "admin",
      status: "active",
      joined_at: new Date().toISOString(),
    },
  ],
}));
await t.test("nothing for a removed member", async (t) => {
  await refused(
    t,
    "a folder for a removed member",
    asOlivia(["folder", "share", "staging", mallory.email], membersAgain),
    /history|confirm|no member/,
  );
  await refused(
    t,
    "a vault for a removed member",
    asOlivia(["vault", "share", "team", mallory.email], membersAgain),
    /history|confirm|no member/,
  );
});

const asAnna: Lie = rewrite(["GET /api/org/members"], (body) => ({
  data: (body["data"] as Json[]).map((item) =>
    item["email"] === people.anna.email ? { ...item, user_id: attacker.id } : item,
  ),
}));
await t.test("a folder for a colleague whose id the service changes", async (t) => {
  const { problems, stderr } = await run(asOlivia(["folder", "share", "private", people.anna.email], asAnna));
  world.truth.grant(`folder:${folders.private}`, by(people.anna), "read");
  t.notMatch(problems.join(), /attacker/, stderr);
});

// A member is named by e-mail: the organization's history says who has it.
await t.test("the service gives a colleague's e-mail to the reader who works with it", async (t) => {
  const swapped =
    (one: Person, other: Person): Lie =>
    (exchange) =>
      eachItem(["GET /api/org/members", "GET /api/vaults/{id}/members"], (item) => {
        const { id } = other.session.user;
        if (item["email"] === one.email) return { ...item, user_id: id };
        return item["email"] === other.email ? { ...item, user_id: one.session.user.id } : item;
      })(exchange);
  const forAnna = swapped(people.anna, rita);
  for (const args of [
    ["folder", "share", "private", people.anna.email],
    ["folder", "share", "production", people.anna.email, "--permission", "manage"],
    ["vault", "share", "team", people.anna.email, "--permission", "manage"],
  ]) {
    world.truth.grant(`folder:${folders.private}`, by(people.anna), "read");
    const { problems } = await run(asOlivia(args, forAnna));
    t.strictSame(problems, [], args.join(" "));
  }
  // A role: Rita must not be signed as a manager of the organization.
  const forBob = swapped(bob, rita);
  world.truth.grant(`org:${world.org}`, by(bob), "manage");
  const { problems, stderr } = await run(asOlivia(["member", "set", bob.email, "--role", "admin"], forBob));
  t.strictSame(problems, [], stderr);
});

await t.test("the service has another member removed than the one who is named", async (t) => {
  const { anna } = people;
  const swapped: Lie = eachItem(["GET /api/org/members", "GET /api/vaults/{id}/members"], (item) => {
    if (item["email"] === anna.email) return { ...item, user_id: rita.session.user.id };
    return item["email"] === rita.email ? { ...item, user_id: anna.session.user.id } : item;
  });
  const before = (await storedHistory(world, olivia, `vault:${team.id}`)).length;
  const { problems, code, stdout, stderr } = await run(asOlivia(["vault", "unshare", "team", rita.email], swapped));
  t.strictSame(problems, []);
  const dropped = (await storedHistory(world, olivia, `vault:${team.id}`))
    .slice(before)
    .flatMap((entry) => claimsOf(entry).drop ?? []);
  t.notOk(dropped.includes(by(anna)), "Anna stays", { code, stdout, stderr, dropped });
});

// Vaults.
const ofVault = all(handOutVault(team.id, attacker.key, bob.publicKey), forgeRecords(team.id, attacker.key));
await t.test("a replaced vault key", async (t) => {
  await asHonest(
    t,
    "an honest server: a record",
    asBob(["record", "get", "team", "Example", "password"], honestly),
    /password of the team/,
  );
  await refused(
    t,
    "a replaced vault key: record get",
    asBob(["record", "get", "team", "Example", "password"], ofVault),
    otherKey,
  );
  await refused(t, "a replaced vault key: record ls", asBob(["record", "ls", "team"], ofVault), otherKey);
  await refused(
    t,
    "a replaced vault key: record create",
    asBob(["record", "create", "team"], ofVault, { input: '{"name":"a","password":"a new password"}' }),
    otherKey,
  );
  await refused(
    t,
    "a replaced vault key: rotate",
    asOlivia(["vault", "rotate", "team"], all(handOutVault(team.id, attacker.key, olivia.publicKey))),
    otherKey,
  );
  const asPersonal = all(
    ofVault,
    eachItem(["GET /api/vaults", "GET /api/vaults/{id}"], (item) =>
      item["id"] === team.id ? { ...item, type: "personal", history_seq: null } : item,
    ),
  );
  await refused(
    t,
    "a shared vault shown as personal: record create",
    asBob(["record", "create", "team"], asPersonal, { input: '{"name":"a","password":"a new password"}' }),
    /key|opened|personal/,
  );
});

await t.test("a replaced vault key: sync prints nothing of it", async (t) => {
  const { problems, stdout } = await run(asBob(["sync", "--show-values"], ofVault));
  t.strictSame(problems, []);
  t.notMatch(stdout, mark);
});
await t.test("a vault of the attacker is not accepted without a question", async (t) => {
  const key = await sealedKey(bob.publicKey, attacker.key, contexts.vaultKey(attacker.id));
  const founding = {
    org: world.org,
    name: "team",
    set: [
      { who: by(rita), key: rita.publicKey, perm: "manage" },
      { who: by(bob), key: bob.publicKey, perm: "write" },
    ],
    ver: 1,
    check: await keyCheck(attacker.key, `vault:${attacker.id}`, 1),
  };
  const entries = await forgeAfter([], `vault:${attacker.id}`, [
    { by: by(rita), privateKey: rita.privateKey, change: founding },
  ]);
  const lie = all(
    rewrite(["GET /api/vaults"], (body) => ({
      data: (body["data"] as Json[]).map((item) =>
        item["id"] === team.id
          ? {
              ...item,
              id: attacker.id,
              encrypted_key: key,
              encrypted_key_alg: "jwe",
              key_version: 1,
              history_seq: 0,
              sealed_pin: null,
            }
          : item,
      ),
    })),
    showHistory(`vault:${attacker.id}`, entries),
  );
  const { code, stdout, stderr, problems } = await run(
    asBob(["record", "create", "team"], lie, { input: '{"name":"a","password":"a new password"}' }),
  );
  t.strictSame(problems, []);
  t.not(code, 0, stdout);
  t.match(stderr, /accept|another|not found|no vault/);
});

// A new device.
await t.test("a new device without a keyring", async (t) => {
  const cli = newCli(t, hostile.url);
  const lie = refuse(["GET /api/account/keyring"], 404, "not_found");
  const login = await run({
    cli,
    from: "bob",
    args: ["login", "--email", bob.email],
    lie,
    env: { COFFER_PASSWORD: password },
  });
  t.strictSame(login.problems, []);
  const { code, stdout, stderr, problems } = await run({ cli, from: "bob", args: ["read", database], lie });
  t.strictSame(problems, []);
  t.not(code, 0, stdout);
  t.match(stderr, /keyring/);
});

// Tokens.
await t.test("a bootstrap from another history", async (t) => {
  hostile.from = "olivia";
  const token = await ofOlivia.data(["token", "create", "--app", "api", "--folder", "production:read"]);
  world.truth.secret(token);
  const founding = {
    org: world.org,
    name: "production",
    set: [{ who: by(olivia), key: attacker.publicKey, perm: "manage" }],
    ver: 1,
    check: await keyCheck(attacker.key, production, 1),
  };
  const entries = await forgeAfter([], production, [
    { by: by(olivia), privateKey: attacker.privateKey, change: founding },
  ]);
  const file = join(ofOlivia.home, "forged.json");
  const call = {
    cli: ofOlivia,
    from: "newcomer",
    args: ["bootstrap", "--config", file],
    lie: showHistory(production, entries),
    env: { COFFER_TOKEN: token },
  };
  const { code, stderr, problems } = await run(call);
  t.strictSame(problems, []);
  t.not(code, 0);
  t.match(stderr, /invitation/);
  t.notMatch(readFileSync(file, "utf8"), '"application_id"', "no machine is made of it");
});

// Lies about single members of answers, by a seed: the same ones in each run of the suite.
const seed = process.env["COFFER_HOSTILE_SEED"] ?? "1";
t.comment(`seed ${seed}`);
const calls: Record<string, (lie: Lie) => Call> = {
  "a person reads": (lie) => asOlivia(["read", database], lie),
  "a person fills in a template": (lie) => asBob(["inject"], lie, { input: `{{ ${database} }}` }),
  "a person prints an environment": (lie) => asOlivia(["env", "--folder", "production"], lie),
  "a machine reads": (lie) => asMachine(["read", database], lie),
  "a machine prints its environment": (lie) => asMachine(["env"], lie, { env }),
  "a person reads a record": (lie) => asBob(["record", "get", "team", "Example", "password"], lie),
};
for (const [title, call] of Object.entries(calls))
  await t.test(`single lies: ${title}`, async (t) => {
    const before = wire.exchanges.length;
    const honest = await run(call(honestly));
    t.match(honest, { code: 0, problems: [] });
    const lies = createRandom(`${seed} ${title}`).shuffled(liesAbout(wire.exchanges.slice(before)));
    for (const one of lies.slice(0, 5)) {
      const { lie } = lieOf(world, wire.exchanges, one);
      const { code, stdout, problems } = await run(call(lie));
      t.strictSame(problems, [], `${describe(one)} (seed ${seed})`);
      const lines = new Set(honest.stdout.split("\n"));
      if (code === 0)
        t.ok(
          stdout.split("\n").every((line) => lines.has(line)),
          `prints what is genuine: ${describe(one)} (seed ${seed})`,
          { stdout },
        );
    }
  });

await t.test("the service has another member removed from the organization", async (t) => {
  const { anna } = people;
  const swapped: Lie = eachItem(["GET /api/org/members"], (item) => {
    if (item["email"] === anna.email) return { ...item, user_id: rita.session.user.id };
    return item["email"] === rita.email ? { ...item, user_id: anna.session.user.id } : item;
  });
  const { code, stdout, stderr, problems } = await run(asOlivia(["member", "rm", rita.email], swapped));
  t.strictSame(problems, []);
  t.equal(code, 0, "she is removed", { stdout, stderr });
  const dropped = (await storedHistory(world, olivia, `org:${world.org}`)).flatMap(
    (entry) => claimsOf(entry).drop ?? [],
  );
  t.ok(dropped.includes(by(rita)), "Rita is removed");
  t.notOk(dropped.includes(by(anna)), "Anna stays");
});
