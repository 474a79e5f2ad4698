import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { newAccessToken } from "@coffer/crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { bootstrap, createClient, type MachineConfiguration, personClient } from "../../src/index.ts";
import { newFolder, newMachine, newSecret } from "../server/machine.ts";
import { json, startServer } from "../server/server.ts";
import { newSession } from "../server/vault-server.ts";

// A proxy refuses in the service's place. That is no word about what the caller has.

const refuse = (response: ServerResponse, status: number): void => {
  response.writeHead(status, { "content-type": "text/html" }).end("<html>no</html>");
};

await t.test("an error says whether the service itself has said it", async (t) => {
  let own = true;
  const { url } = await startServer(t, (_request, response) => {
    if (own) json(response, 404, { error: "not_found", message: "no" });
    else refuse(response, 404);
  });
  const me = personClient(await newSession(url), url);
  await t.rejects(me.vaults.get("a"), { code: "not_found", foreign: false });
  own = false;
  await t.rejects(me.vaults.get("a"), { code: "not_found", foreign: true });
});

await t.test("a secret is neither missing nor removed by it", async (t) => {
  const folder = newFolder("production");
  const secret = await newSecret(folder, "database", { password: "s3cret" });
  const { url } = await startServer(t, ({ method }, response) => {
    if (method === "GET" && removing) json(response, 200, secret);
    else refuse(response, 404);
  });
  let removing = false;
  const secrets = createClient(await newMachine(url, [folder]));
  await t.rejects(secrets.get(secret.uid), { code: "not_found", foreign: true });
  removing = true;
  await t.rejects(secrets.remove(secret.uid), { code: "not_found", foreign: true });
});

await t.test("a watch goes on", async (t) => {
  const folder = newFolder("production");
  const secret = await newSecret(folder, "database", { password: "s3cret" });
  let status = 200;
  const { url, server } = await startServer(t, (_request, response) => {
    if (status === 200) json(response, 200, { data: [secret] });
    else refuse(response, status);
  });
  const codes: string[] = [];
  const client = createClient(await newMachine(url, [folder]));
  const watch = await client.watch(() => undefined, { intervalSeconds: 0.02, onError: ({ code }) => codes.push(code) });
  t.teardown(() => watch.stop());
  status = 401;
  await until("it was refused", () => codes.length > 0);
  status = 200;
  await once(server, "request");
  watch.stop();
  await watch.ended;
  t.equal(codes[0], "invalid_token");
});

await t.test("a machine's new key is kept, since its token may be spent", async (t) => {
  const date = new Date().toUTCString();
  for (const place of ["/api/sm/v1/bootstrap", "/api/sm/v1/client"]) {
    const { url } = await startServer(t, ({ path }, response) => {
      if (path === place) refuse(response, 401);
      else if (path === "/api/sm/v1/client") json(response, 401, { error: "invalid_token", message: "no" }, { date });
      else json(response, 200, { keys: [] }, { date });
    });
    const saved: MachineConfiguration[] = [];
    let discarded = false;
    const request = {
      url,
      token: newAccessToken(),
      save: (one: MachineConfiguration) => Promise.resolve(void saved.push(one)),
      discard: () => Promise.resolve(void (discarded = true)),
    };
    const code = place.endsWith("client") ? "invalid_token" : "network";
    await t.rejects(bootstrap(request, { attempts: 1 }), { code });
    t.same([saved.length, discarded], [1, false]);
  }
});
