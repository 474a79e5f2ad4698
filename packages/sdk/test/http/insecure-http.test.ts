import { newId } from "@coffer/crypto";
import t from "tap";
import { bootstrap, createClient, personClient, safeUrl } from "../../src/index.ts";
import { accountSecurity, login, recover, register } from "../../src/people/account.ts";
import { newFolder, newMachine } from "../server/machine.ts";
import { newSession } from "../server/vault-server.ts";

const remote = "http://coffer.example.com";

await t.test("plain http is for this machine only, by whatever name", (t) => {
  const here = ["http://localhost", "http://127.0.0.1:8080", "http://127.1", "http://127.9.9.9", "http://[::1]:1"];
  for (const url of [...here, "https://coffer.example.com"]) t.doesNotThrow(() => safeUrl(url), url);
  for (const url of [
    remote,
    "HTTP://COFFER.example.com",
    "http://10.0.0.1",
    "http://0.0.0.0",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "http://x.localhost",
    "http://[::ffff:127.0.0.1]",
    "http://[::]",
  ]) {
    t.throws(() => safeUrl(url), { code: "configuration", message: /insecure-http/ }, url);
    t.doesNotThrow(() => safeUrl(url, true), url);
  }
  t.end();
});

await t.test("every way into the service refuses it before anything is sent, unless it is accepted", async (t) => {
  let sent = 0;
  const options = {
    fetch: () => {
      sent += 1;
      return Promise.reject(new Error("stopped"));
    },
    attempts: 1,
  };
  const device = { id: newId(), name: "d", type: "cli" };
  const who = { url: remote, email: "a@example.com", device };
  const session = await newSession(remote);
  const machine = await newMachine(remote, [newFolder("production")]);
  const ways: Record<string, (options: object) => Promise<unknown>> = {
    register: (more) => register({ ...who, password: "correct horse" }, { ...options, ...more }),
    login: (more) => login({ ...who, password: "correct horse" }, { ...options, ...more }),
    recover: (more) =>
      recover({ ...who, recoveryKey: `cfr1_${"A".repeat(43)}`, newPassword: "correct horse" }, { ...options, ...more }),
    bootstrap: (more) =>
      bootstrap({ url: remote, token: "plain", save: () => Promise.resolve() }, { ...options, ...more }),
    person: async (more) => personClient(session, remote, { ...options, ...more }).account(),
    security: async (more) => accountSecurity(session, remote, { ...options, ...more }).confirmTotp("123456"),
    machine: async (more) => createClient(machine, { ...options, ...more }).client(),
    "machine, as text": async (more) => createClient(JSON.stringify(machine), { ...options, ...more }).client(),
  };
  for (const [name, way] of Object.entries(ways)) {
    await t.rejects(way({}), { code: "configuration", message: /plain http/ }, name);
    t.equal(sent, 0, name);
    await t.rejects(way({ insecureHttp: true }), { code: "network" }, name);
    t.equal(sent, 1, name);
    sent = 0;
  }
});
