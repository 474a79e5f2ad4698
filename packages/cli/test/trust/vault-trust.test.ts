import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  cacheKey,
  contexts,
  decodeBase64,
  decodeText,
  fingerprint,
  newId,
  newKey,
  seal,
  unboxBound,
} from "@coffer/crypto";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { type Company, type Member, startCompany } from "../../../sdk/test/server/history-people.ts";
import { coffer, type Outcome, type Start } from "../command.ts";

/** The command of a person, on its own device. */
interface Device {
  home: string;
  run(args: string[], options?: Start): Promise<Outcome>;
  /** Everything that the command keeps, the sealed stores opened. */
  kept(): Promise<string>;
}

function newDevice(t: Parameters<typeof testDirectory>[0], { server }: Company, { session }: Member): Device {
  const home = testDirectory(t);
  const folder = join(home, "coffer");
  mkdirSync(folder);
  const profile = { version: 1, device_id: newId(), url: server.url, sessions: { [server.url]: session } };
  writeFileSync(join(folder, "profile.json"), JSON.stringify(profile));
  const kept = async (): Promise<string> => {
    const key = await cacheKey(decodeBase64(session.user_key));
    const texts = readdirSync(home, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(home, name)).isFile())
      .map(async (name) => {
        const text = readFileSync(join(home, name), "utf8");
        if (!name.endsWith(".sealed")) return text;
        return decodeText(await unboxBound(key, text.trim(), contexts.replica(session.user.id)));
      });
    return (await Promise.all(texts)).join("\n");
  };
  return {
    home,
    kept,
    run: (args, options = {}) => coffer(home, args, { ...options, env: { COFFER_URL: server.url, ...options.env } }),
  };
}

const input = '{"name": "Example", "password": "s3cret"}';

await t.test("a vault that another person shared is used once it is accepted, on all devices", async (t) => {
  const company = await startCompany(t);
  const bob = await company.join("bob@example.com");
  const [hers, his, hisOther] = [company.alice, bob, bob].map((one) => newDevice(t, company, one)) as [
    Device,
    Device,
    Device,
  ];
  t.match(await hers.run(["vault", "create", "Team", "--type", "shared"]), { code: 0 });
  t.match(await hers.run(["record", "create", "Team"], { input }), { code: 0 });
  t.match(await hers.run(["vault", "share", "Team", "nobody@example.com"]), { code: 5, stderr: /names no member/ });
  t.match(await hers.run(["vault", "share", "Team", "bob@example.com"]), { code: 0, stderr: /may read in Team/ });
  t.match(await his.run(["vault", "ls"]), { code: 0, stdout: /\tTeam\tshared\tread\t1\t.*\tnot_accepted\n$/ });
  const refused = await his.run(["record", "get", "Team", "Example", "password"]);
  t.match(refused, { code: 4, stdout: "", stderr: /coffer vault accept [0-9a-f-]{36}/ });
  const [, id = ""] = /vault accept ([0-9a-f-]{36})/.exec(refused.stderr) ?? [];
  t.match(await his.run(["sync", "--store", join(his.home, "vaults.sealed")]), {
    code: 0,
    stdout: /^vault_created\tTeam\t[^\n]*\n$/,
    stderr: /left out: the vault Team was neither made nor accepted/,
  });
  t.match(await his.run(["vault", "accept", "Team"]), { code: 2, stderr: /no id/ });
  t.match(await his.run(["vault", "accept", id]), { code: 2 }, "there is no terminal to ask at");
  t.match(await his.run(["vault", "accept", id, "--yes"]), { code: 0, stderr: /from alice@example\.com/ });
  t.match(await his.run(["record", "get", "Team", "Example", "password"]), { code: 0, stdout: "s3cret\n" });
  t.match(await his.run(["sync", "--store", join(his.home, "vaults.sealed")]), {
    code: 0,
    stdout: /^record_created\tTeam\tExample\t/,
  });
  t.match(await hisOther.run(["record", "get", "Team", "Example", "password"]), { code: 0, stdout: "s3cret\n" });
  t.match(await hers.run(["vault", "unshare", "Team", "bob@example.com"]), {
    code: 0,
    stderr:
      /revoked access of bob@example\.com to Team[^]*Team has a new key \(version 2\)[^]*not name any more\n {2}person bob@/,
  });
  t.match(await his.run(["record", "ls", id]), { code: 5 });
});

await t.test("the command seals nothing under a key that the service chose", async (t) => {
  const company = await startCompany(t);
  const { alice, server } = company;
  const { id } = await alice.client().vaults.create("Team", { type: "shared" });
  const device = newDevice(t, company, alice);
  t.match(await device.run(["record", "create", "Team"], { input }), { code: 0 });
  const encrypted_key = await seal(alice.session.public_key, newKey(), contexts.vaultKey(id));
  const held = server.vaults.get(id)?.members[0];
  Object.assign(held ?? {}, { encrypted_key });
  t.match(await device.run(["vault", "ls"]), { code: 0, stdout: /\tkey_mismatch\n$/ });
  t.match(await device.run(["record", "create", "Team"], { input }), {
    code: 1,
    stderr: /another key for the vault Team/,
  });
  t.equal(server.records.size, 1);
});

await t.test("what travel mode hides is gone from what this device trusts and stores", async (t) => {
  const company = await startCompany(t);
  const device = newDevice(t, company, company.alice);
  const other = newDevice(t, company, company.alice);
  for (const name of ["Holiday", "Canary"]) {
    t.match(await device.run(["vault", "create", name, "--type", "shared"]), { code: 0 });
    t.match(await device.run(["record", "create", name], { input }), { code: 0 });
  }
  t.match(await device.run(["vault", "set", "Holiday", "--safe-for-travel", "yes"]), { code: 0 });
  const hidden = [...company.server.vaults.values()].find(({ name }) => name === "Canary")?.id ?? "";
  for (const one of [device, other]) {
    t.match(await one.run(["sync", "--store", join(one.home, "vaults.sealed")]), { code: 0 });
    t.match(await one.kept(), "Canary");
  }
  t.match(await device.run(["travel", "on"]), { code: 0 });
  t.match(await other.run(["sync", "--store", join(other.home, "vaults.sealed")]), { code: 0 });
  for (const one of [device, other]) {
    const kept = await one.kept();
    t.match(kept, "Holiday");
    t.notMatch(kept, "Canary");
    t.notMatch(kept, hidden);
    t.equal(new Set(kept.match(/vault:[0-9a-f-]{36}/g)).size, 1, "nor can vaults be counted");
  }
  company.server.travelling.clear();
  t.match(await device.run(["record", "get", "Canary", "Example", "password"]), { code: 0, stdout: "s3cret\n" });
});

await t.test("who does not travel goes on trusting what is gone, so that nothing older comes back", async (t) => {
  const company = await startCompany(t);
  const device = newDevice(t, company, company.alice);
  t.match(await device.run(["vault", "create", "Team", "--type", "shared"]), { code: 0 });
  const [vault] = [...company.server.vaults.values()];
  company.server.vaults.clear();
  t.match(await device.run(["sync", "--store", join(device.home, "vaults.sealed")]), { code: 0 });
  t.match(await device.kept(), vault?.id ?? "");
});

await t.test("members of a vault, and who is left to a rotation", async (t) => {
  const company = await startCompany(t);
  const bob = await company.join("bob@example.com");
  const { id } = await company.alice.client().vaults.create("Team", { type: "shared" });
  await company.alice.client().vaults.share(id, { userId: bob.session.user.id, permission: "write" });
  const device = newDevice(t, company, company.alice);
  t.match(await device.run(["vault", "members", "Team"]), { code: 0, stdout: /\tbob@example\.com\t.*\twrite\t/ });
  t.match(await device.run(["member", "rm", "bob@example.com"]), {
    code: 0,
    stderr: /the history of Team still names bob@example\.com: `coffer vault rotate Team`/,
  });
  t.match(await device.run(["vault", "members", "Team"]), {
    code: 0,
    stdout: /\tended\n/,
    stderr: /`coffer vault rotate Team` ends that/,
  });
  t.match(await device.run(["vault", "rotate", "Team"]), { code: 0, stderr: /it was sealed to\n {2}person alice@/ });
  t.notMatch((await device.run(["vault", "members", "Team"])).stdout, "ended");
  t.match(await device.run(["vault", "rotate", "Nothing"]), { code: 5 });
});

await t.test("a command to paste quotes the name that another person chose", async (t) => {
  const company = await startCompany(t);
  const bob = await company.join("bob@example.com");
  const { id } = await company.alice.client().vaults.create("Team; touch owned", { type: "shared" });
  await company.alice.client().vaults.share(id, { userId: bob.session.user.id, permission: "write" });
  const removed = await newDevice(t, company, company.alice).run(["member", "rm", "bob@example.com"]);
  t.match(removed, { code: 0, stderr: "`coffer vault rotate 'Team; touch owned'` ends that" });
});

await t.test("a history that goes back is named also when the fingerprint is given", async (t) => {
  const company = await startCompany(t);
  const { alice, server } = company;
  const device = newDevice(t, company, alice);
  const { stdout } = await device.run(["folder", "create", "production"]);
  const [id, { hex }] = [stdout.trim(), await fingerprint(alice.session.public_key)];
  const earlier = structuredClone(server.histories.get(`folder:${id}`));
  t.match(await device.run(["folder", "rename", id, "staging"]), { code: 0 });
  t.notMatch((await device.run(["folder", "trust", id, "--fingerprint", hex])).stderr, /does not show/);
  if (earlier !== undefined) server.histories.set(`folder:${id}`, earlier);
  t.match(await device.run(["folder", "trust", id, "--fingerprint", hex]), {
    code: 0,
    stderr: /The service shows 0 as the newest entry\. It does not show the entry 1 that this device knows\./,
  });
});
