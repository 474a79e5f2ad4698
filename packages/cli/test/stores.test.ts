import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { personClient } from "@coffer/sdk";
import t from "tap";
import { json } from "../../sdk/test/server/server.ts";
import { newSession } from "../../sdk/test/server/vault-server.ts";
import { endReplaced, storeSession } from "../src/profile/store-session.ts";
import { stoppedWhileWriting } from "./command.ts";
import { type OrganizationServer, startOrganizationServer } from "./organization-server.ts";

/** What the profile says. */
function profileOf({ home }: OrganizationServer): { sessions: object; stores: { path: string }[] } {
  const text = readFileSync(join(home, "coffer", "profile.json"), "utf8");
  return JSON.parse(text) as ReturnType<typeof profileOf>;
}

await t.test("who logs out leaves none of the files behind in which vaults were kept", async (t) => {
  const server = await startOrganizationServer(t);
  await personClient(server.session, server.url).vaults.create("Private");
  const [kept = "", replaced = "", gone = ""] = ["kept", "replaced", "gone"].map((name) => join(server.home, name));
  const stopped = stoppedWhileWriting("SIGTERM", join(server.home, "coffer", "profile.json"));
  for (const path of [kept, replaced])
    t.match(await server.run(["sync", "--store", path]), { code: 0, stdout: /Private/ });
  t.match(await server.run(["sync", "--store", kept]), { code: 0 });
  t.match(await server.run(["sync", "--store", gone], stopped), { signal: "SIGTERM", stdout: "" });
  writeFileSync(replaced, "my notes\n");
  t.equal(profileOf(server).stores.length, 3);
  t.match(await server.run(["logout"], stopped), {
    signal: "SIGTERM",
    stderr: `removed ${kept}\nlogged out at ${server.url}\n`,
  });
  t.same(readdirSync(join(server.home, "coffer")).sort(), ["profile.json"]);
  t.notOk(existsSync(kept));
  t.equal(readFileSync(replaced, "utf8"), "my notes\n", "what is something else by now stays");
  t.same(profileOf(server).stores, []);
});

await t.test("another person's file is not removed", async (t) => {
  const [hers, his] = [await startOrganizationServer(t), await startOrganizationServer(t)];
  const store = join(hers.home, "store");
  t.match(await hers.run(["sync", "--store", store]), { code: 0 });
  t.match(await his.run(["sync", "--store", store]), { code: 2, stderr: /of another person/ });
  t.same(profileOf(his).stores, [], "nor remembered as his");
  t.match(await his.run(["logout"]), { code: 0 });
  t.ok(existsSync(store));
});

await t.test("a login removes the files of another person, and keeps those of the same person", async (t) => {
  const server = await startOrganizationServer(t);
  const directory = join(server.home, "coffer");
  const usual = server.instead.http;
  server.instead.http = (request, response) => {
    if (!request.path.startsWith("/api/auth/")) return usual?.(request, response) ?? false;
    response.writeHead(204).end();
    return true;
  };
  const store = join(server.home, "store");
  t.match(await server.run(["sync", "--store", store]), { code: 0 });
  const said = t.capture(process.stderr, "write");
  const lines = (): unknown[] => said().map(({ args }) => args[0]);
  const ended = `ended the session of ${server.session.user.email} that was here before\n`;

  const again = { ...server.session, session_id: "s2", access_token: "access-2" };
  await storeSession(directory, again);
  t.same(lines(), [ended]);
  t.ok(existsSync(store), "who logs in again goes on with it");
  t.equal(profileOf(server).stores.length, 1);

  await storeSession(directory, await newSession(server.url));
  t.same(lines(), [`removed ${store}\n`, ended]);
  t.notOk(existsSync(store));
  t.same(profileOf(server).stores, []);
});

await t.test("what a store's place holds that is no file is not removed, and no failure", async (t) => {
  const server = await startOrganizationServer(t);
  const [place, unreadable] = [join(server.home, "place"), join(server.home, "file", "below")];
  mkdirSync(place);
  t.match(await server.run(["sync", "--store", place]), { code: 2, stderr: /cannot be read: EISDIR/ });
  t.same(profileOf(server).stores, []);
  const stores = [place, unreadable].map((path) => ({ path, user_id: server.session.user.id, service: server.url }));
  const path = join(server.home, "coffer", "profile.json");
  writeFileSync(path, JSON.stringify({ ...profileOf(server), stores }));
  writeFileSync(join(server.home, "file"), "");
  // What a command has left that was killed while it wrote.
  writeFileSync(join(server.home, "coffer", ".profile.json.0123456789ab.tmp"), "the user key");
  const usual = server.instead.http;
  server.instead.http = (request, response) => {
    if (!request.path.startsWith("/api/auth/")) return usual?.(request, response) ?? false;
    response.writeHead(401, { "content-type": "text/html" }).end("<html>sign in</html>");
    return true;
  };
  t.match(await server.run(["logout"]), {
    code: 3,
    stderr: /the session could not be ended on the service: the answer was 401\n[^]*below could not be removed/,
  });
  t.ok(existsSync(place));
  t.match(profileOf(server), { sessions: {}, stores: [{ path: unreadable }] });
  t.notOk(existsSync(join(server.home, "coffer", ".profile.json.0123456789ab.tmp")));
});

await t.test("a session that a proxy's word ends is not taken for ended", async (t) => {
  const server = await startOrganizationServer(t);
  const said = t.capture(process.stderr, "write");
  server.instead.http = (_request, response) => (response.writeHead(401).end("<html>sign in</html>"), true);
  await endReplaced(server.session);
  t.match(
    said().map(({ args }) => args[0]),
    [/that was here before could not be ended: the answer was 401/],
  );
  server.instead.http = (_request, response) => (json(response, 401, { error: "invalid_token", message: "no" }), true);
  await endReplaced(server.session);
  t.same(said(), []);
});
