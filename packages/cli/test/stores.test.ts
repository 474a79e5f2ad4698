import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { personClient } from "@coffer/sdk";
import { startOrganizationServer } from "./organization-server.ts";

await t.test("who logs out leaves none of the files behind in which vaults were kept", async (t) => {
  const server = await startOrganizationServer(t);
  await personClient(server.session, server.url).vaults.create("Private");
  const [kept = "", replaced = "", gone = ""] = ["kept", "replaced", "gone"].map((name) => join(server.home, name));
  for (const path of [kept, replaced, gone])
    t.match(await server.run(["sync", "--store", path]), { code: 0, stdout: /Private/ });
  t.match(await server.run(["sync", "--store", kept]), { code: 0 });
  writeFileSync(replaced, "my notes\n");
  rmSync(gone);
  const profile = join(server.home, "coffer", "profile.json");
  t.equal((JSON.parse(readFileSync(profile, "utf8")) as { stores: unknown[] }).stores.length, 3);
  t.match(await server.run(["logout"]), { code: 0, stderr: `removed ${kept}\nlogged out at ${server.url}\n` });
  t.notOk(existsSync(kept));
  t.equal(readFileSync(replaced, "utf8"), "my notes\n", "what is something else by now stays");
  t.same((JSON.parse(readFileSync(profile, "utf8")) as { stores: unknown[] }).stores, []);
});

await t.test("what was kept for somebody else is not removed", async (t) => {
  const [hers, his] = [await startOrganizationServer(t), await startOrganizationServer(t)];
  const store = join(hers.home, "store");
  t.match(await hers.run(["sync", "--store", store]), { code: 0 });
  t.match(await his.run(["sync", "--store", store]), { code: 2, stderr: /for somebody else/ });
  t.match(await his.run(["logout"]), { code: 0 });
  t.ok(existsSync(store));
});
