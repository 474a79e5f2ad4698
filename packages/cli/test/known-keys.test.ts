import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { newId } from "@coffer/crypto";
import { personClient } from "@coffer/sdk";
import { command, inherited } from "./command.ts";
import { rememberHolder, rememberRemoved, rememberTakenOff, standingOf } from "../src/known-holders.ts";
import { startOrganizationServer } from "./organization-server.ts";
import type { KeyOwner, OrganizationServer } from "./organization-server.ts";
import { json } from "../../sdk/test/server.ts";
import { openTerminal } from "./terminal.ts";

const alice = "alice@example.com";
const mallory = "mallory@example.com";

/** A shared vault, and Mallory, whose key was confirmed when a vault or the folder was shared with her. */
async function sharedBefore(
  t: Parameters<typeof startOrganizationServer>[0],
  what: "vault" | "folder",
): Promise<{ server: OrganizationServer; target: string; her: KeyOwner }> {
  const server = await startOrganizationServer(t);
  const her = await server.join(mallory);
  let target = "production";
  if (what === "vault") {
    target = (await personClient(server.session, server.url).vaults.create("Team", { type: "shared" })).id;
    const vault = server.vaults.get(target);
    if (vault !== undefined) vault.org_id = server.organizationId;
  }
  const { code, stderr } = await server.run([what, "share", target, mallory, "--fingerprint", her.fingerprint]);
  if (code !== 0) throw new Error(stderr);
  server.sealedTo.length = 0;
  return { server, target, her };
}

/** From now on the service takes nothing away, and says that there is nothing to take. */
function refuseRemovals(server: OrganizationServer): void {
  const usual = server.instead.http;
  server.instead.http = (request, response) => {
    if (request.method !== "DELETE") return usual?.(request, response) ?? false;
    json(response, 404, { error: "not_found", message: "not found" });
    return true;
  };
}

/** From now on the service says that the id has this e-mail. */
function rename(server: OrganizationServer, id: string, email: string): void {
  for (const member of server.members) if (member.user_id === id) Object.assign(member, { email, name: email });
}

for (const what of ["vault", "folder"] as const)
  await t.test(
    `a ${what} is not shared under a known key that comes for another e-mail, unless somebody says so`,
    async (t) => {
      const { server, target, her } = await sharedBefore(t, what);
      t.match(await server.run([what, "share", target, mallory]), { code: 0 }, "for her own nobody is asked");
      t.same(server.sealedTo.splice(0), [her.id]);
      rename(server, her.id, alice);
      const share = [what, "share", target, alice];
      const why = /key that comes for the person alice@example\.com was confirmed as that of the person mallory@/;
      t.match(await server.run(share), { code: 2, stdout: "", stderr: why });
      t.match(await server.run([...share, "--trust-new"]), { code: 2, stderr: why }, "it is not new");
      t.same(server.sealedTo, []);
      t.match(await server.run([...share, "--fingerprint", her.fingerprint]), { code: 0 });
      t.match(await server.run(share), { code: 0 }, "and is known as that from then on");
      t.same(server.sealedTo, [her.id, her.id]);
    },
  );

await t.test("an e-mail that comes with another account's key is refused", async (t) => {
  const { server, target, her } = await sharedBefore(t, "vault");
  const second = await server.join("second@example.com");
  rename(server, her.id, "gone@example.com");
  rename(server, second.id, mallory);
  const share = ["vault", "share", target, mallory];
  const why = /another public key for mallory@example\.com than the one that was confirmed for this e-mail before/;
  t.match(await server.run([...share, "--trust-new"]), { code: 4, stderr: why });
  t.same(server.sealedTo, []);
  t.match(await server.run([...share, "--fingerprint", second.fingerprint]), { code: 0 });
  t.match(await server.run(share), { code: 0 });
});

await t.test("a key of which an earlier version did not keep whose it is is asked about once more", async (t) => {
  const { server, target, her } = await sharedBefore(t, "vault");
  const file = join(server.home, "coffer", "known-keys.json");
  writeFileSync(file, JSON.stringify({ [server.url]: { [her.id]: her.fingerprint } }));
  const share = ["vault", "share", target, mallory];
  const line = [process.execPath, command, ...share].map((word) => `'${word}'`).join(" ");
  const env = {
    ...inherited(),
    TERM: "xterm",
    COFFER_URL: server.url,
    HOME: server.home,
    XDG_CONFIG_HOME: server.home,
  };
  const terminal = openTerminal(t, line, env);
  await terminal.shows(/was confirmed before, but not kept with it whose it was\.[^]*who you mean \(yes or no\): $/);
  terminal.type("yes\n");
  t.match(await terminal.end(), /mallory@example\.com may read in Team/);
  t.match(readFileSync(file, "utf8"), `"${her.fingerprint} user ${mallory}"`);
  t.match(await server.run(share), { code: 0, stderr: "mallory@example.com may read in Team\n" });
});

await t.test("who is removed and listed again as a holder gets no new key without a word", async (t) => {
  const { server, her } = await sharedBefore(t, "folder");
  server.hold(her);
  t.match(await server.run(["folder", "rotate", "production"]), {
    code: 0,
    stderr: /it was sealed to\n {2}person a@example\.com \(me\)\n {2}person mallory@example\.com\n$/,
  });
  t.same(server.sealedTo.splice(0), [server.session.user.id, her.id]);
  t.match(await server.run(["member", "rm", mallory]), { code: 0 });
  const why = /person mallory@example\.com was to be removed here, and the service lists it as a holder/;
  for (const more of [[], ["--trust-new"]])
    t.match(await server.run(["folder", "rotate", "production", ...more]), { code: 2, stdout: "", stderr: why });
  t.same(server.sealedTo, []);
  t.match(await server.run(["folder", "share", "production", mallory]), { code: 2, stderr: /was not seen before/ });
  t.match(await server.run(["folder", "share", "production", mallory, "--trust-new"]), { code: 0 });
  t.match(await server.run(["folder", "rotate", "production"]), { code: 0 }, "who is taken in again is a holder again");
});

await t.test("who is taken off a folder and listed again gets no new key without a word", async (t) => {
  const { server, her } = await sharedBefore(t, "folder");
  server.hold(her);
  t.match(await server.run(["folder", "unshare", "production", mallory]), { code: 0 });
  const why = /person mallory@example\.com was to be taken off this folder here, and the service lists it as a holder/;
  t.match(await server.run(["folder", "rotate", "production", "--trust-new"]), { code: 2, stderr: why });
  t.same(server.sealedTo, []);
  const given = ["folder", "rotate", "production", "--fingerprint", her.fingerprint];
  t.match(await server.run(given), { code: 0 });
});

await t.test("who was to be removed gets no new key without a word, whatever the service answered to it", async (t) => {
  const { server, her } = await sharedBefore(t, "folder");
  server.hold(her);
  const stolen = await server.enroll("web");
  server.hold(stolen, "client");
  const rotate = ["folder", "rotate", "production", "--fingerprint", her.fingerprint];
  t.match(await server.run([...rotate, "--fingerprint", stolen.fingerprint]), { code: 0 });
  server.sealedTo.length = 0;
  refuseRemovals(server);
  t.match(await server.run(["client", "rm", stolen.id]), { code: 5 });
  t.match(await server.run(rotate), { code: 2, stderr: /machine web was to be removed here/ });
  for (const member of server.members) if (member.user_id === her.id) member.name = "Mal";
  t.match(await server.run(["folder", "unshare", "production", "Mal"]), { code: 5 });
  t.match(await server.run(["folder", "rotate", "production"]), { code: 2, stderr: /taken off this folder here/ });
  t.same(server.sealedTo, []);
});

await t.test("nor who is not shown when she is to be removed, or when the folder is rotated", async (t) => {
  const { server, her } = await sharedBefore(t, "folder");
  server.hold({ ...her, name: mallory });
  const [shown] = server.members.splice(1, 1);
  const rotate = ["folder", "rotate", "production", "--trust-new"];
  const why = /The service lists the person mallory@example\.com \(.*\) as a holder, and not as a member/;
  t.match(await server.run(rotate), { code: 2, stderr: why });
  t.match(await server.run(["member", "rm", mallory]), { code: 5, stderr: /there is no member/ });
  if (shown !== undefined) server.members.push(shown);
  t.match(await server.run(rotate), { code: 2, stderr: /person mallory@example\.com was to be removed here/ });
  t.same(server.sealedTo, []);
});

await t.test("what is known of a holder of one folder says nothing of another", async (t) => {
  const directory = t.testdir({});
  const [one, two, three, her] = [newId(), newId(), newId(), newId()];
  const standings = (): Promise<(string | undefined)[]> =>
    Promise.all([one, two, three].map((folder) => standingOf(directory, "s", folder, her)));
  await rememberHolder(directory, "s", one, her);
  await rememberHolder(directory, "s", two, her);
  t.same(await standings(), ["holder", "holder", undefined]);
  await rememberRemoved(directory, "s", [her]);
  t.same(await standings(), ["removed", "removed", "removed"]);
  await rememberHolder(directory, "s", one, her.toUpperCase());
  t.same(await standings(), ["holder", "removed", "removed"]);
  await rememberTakenOff(directory, "s", one, [her]);
  t.same(await standings(), ["taken off", "removed", "removed"]);
  for (const [folder, holder] of [
    ["*", her],
    [one, "constructor"],
  ] as const) {
    await t.rejects(rememberHolder(directory, "s", folder, holder), { code: "bad_answer" });
    await t.rejects(standingOf(directory, "s", folder, holder), { code: "bad_answer" });
  }
});

await t.test("a known person whom the service alone calls a holder is asked about", async (t) => {
  const { server, her } = await sharedBefore(t, "vault");
  server.hold(her);
  const why = /person mallory@example\.com holds this folder was not confirmed here before/;
  t.match(await server.run(["folder", "rotate", "production"]), { code: 2, stdout: "", stderr: why });
  t.same(server.sealedTo, []);
  t.match(await server.run(["folder", "rotate", "production", "--trust-new"]), { code: 0 });
  t.match(await server.run(["folder", "rotate", "production"]), { code: 0 });
});

await t.test("one key under two ids is confirmed for each of them", async (t) => {
  const { server, her } = await sharedBefore(t, "folder");
  server.hold(her);
  server.hold({ ...her, id: newId(), name: "web" }, "client");
  const outcome = await server.run(["folder", "rotate", "production"]);
  t.match(outcome, { code: 2, stderr: /key of the machine web was not seen before/ });
  t.same(server.sealedTo, []);
});

await t.test("a machine that was cut off gets no new key without a word, and others are named", async (t) => {
  const server = await startOrganizationServer(t);
  const [stolen, other] = [await server.enroll("web"), await server.enroll("web")];
  server.hold(stolen, "client");
  server.hold(other, "client");
  t.match(await server.run(["client", "rm", stolen.id]), { code: 0 });
  const rotate = ["folder", "rotate", "production", "--trust-new"];
  t.match(await server.run(rotate), { code: 2, stderr: /machine web was to be removed here/ });
  t.same(server.sealedTo, []);
  server.holders.splice(1, 1);
  t.match(await server.run(rotate), { code: 0, stderr: new RegExp(`\n {2}machine web \\(${other.id}\\)\n`) });
  t.same(server.sealedTo, [server.session.user.id, other.id]);
});
