import t from "tap";
import { newId } from "@coffer/crypto";
import { login } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import { expectAttack, newScene } from "./attack.ts";
import { saidOfRecords } from "./step.ts";
import { limits } from "./limits.ts";
import { eachItem, rewrite } from "./lies.ts";
import type { Json } from "./lies.ts";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";
import { createWire } from "./wire.ts";
import type { Lie } from "./wire.ts";
import { emailOf, impatient, newPerson, password, vaultKeyOf } from "./world.ts";
import type { Person } from "./world.ts";
import { npmStart } from "../npm-start.ts";

// Attacks by a server with a removed manager (Trent) who has returned with the same key, before a manager
// has set him again; and by a server that shows less than a client has seen.

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const wire = createWire(url);
const scene = await newScene(wire);
const { truth, people } = scene.world;
const { olivia, anna, bob } = people;
const owner = scene.honest(olivia);
const idOf = ({ session }: Person): string => session.user.id;

const email = emailOf("trent");
const invitation = await invited();
const trent = await newPerson(wire, truth, "trent", { email, inviteToken: invitation });
await scene.honest(trent).invites.accept(invitation);
const wages = await owner.folders.create("wages");
truth.name(`folder:${wages.id}`, "wages");
const shift = await owner.vaults.create("shift", { type: "shared" });
truth.name(`vault:${shift.id}`, "shift");
for (const [holder, permission] of [
  [anna, "manage"],
  [bob, "write"],
  [trent, "manage"],
] as const) {
  const request = { userId: idOf(holder), permission };
  for (const res of [`folder:${wages.id}`, `vault:${shift.id}`]) truth.grant(res, `user:${idOf(holder)}`, permission);
  await owner.folders.share(wages.id, request);
  await owner.vaults.share(shift.id, request);
  await scene.honest(holder).folders.accept(wages.id);
  await scene.honest(holder).vaults.accept(shift.id);
}
const record = await owner.records.create(shift.id, { type: "login", fields: { password: "of the shift" } });
truth.value(shift.id, record.id, "password", "of the shift");
await scene.honest(trent).vaults.list();
const oldKey = await vaultKeyOf(wire, trent, shift.id);

async function invited(): Promise<string> {
  const { token } = await owner.invites.create(email, "member");
  return token;
}

const reads =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    const me = stage.person(who);
    await me.folders.list();
    return saidOfRecords(await me.records.list(shift.id));
  };
const rotates =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    const me = stage.person(who);
    await me.folders.rotate(wages.id);
    await me.vaults.rotate(shift.id);
    return [];
  };

await t.test("a manager who was removed and has returned", async (t) => {
  await owner.members.remove(idOf(trent));
  const device = { id: newId(), name: "test", type: "cli" };
  const options = { ...impatient, fetch: wire.network("trent", undefined) };
  trent.session = await login({ url: wire.url, email, password, device }, options);
  await scene.honest(trent).invites.accept(await invited());
  t.strictSame(await scene.oracle.verdict({}), [], "all actors are honest until here");
  scene.oracle.known.set("the key that Trent has", oldKey);
  scene.oracle.hostile.set(trent.publicKey, trent.privateKey);
  const lists: Lie = rewrite(["GET /api/vaults/{id}/members", "GET /api/org/folders/{id}/members"], (body) => {
    const named = { name: "trent", email, permission: "manage", has_key: false, added_at: new Date().toISOString() };
    const holder = { ...named, kind: "user", id: idOf(trent), user_id: idOf(trent), public_key: trent.publicKey };
    return { data: [...(body["data"] as Json[]), holder] };
  });
  // The service takes what it is sent for Trent.
  const takes: Lie = ({ method, path, answer }) =>
    method === "PUT" && path.endsWith(idOf(trent))
      ? { status: 200, body: { user_id: idOf(trent), permission: "manage", key_version: 1 } }
      : answer;
  const lie: Lie = async (exchange) => takes({ ...exchange, answer: await lists(exchange) });
  for (const who of [olivia, anna]) {
    await expectAttack(t, scene, `${who.name} opens`, { lie, play: reads(who) }, ["as honest"]);
    await expectAttack(t, scene, `${who.name} rotates`, { lie, play: rotates(who) }, [
      "as honest",
      "holder_unconfirmed",
      "conflict",
      "invalid_request",
    ]);
  }
  await expectAttack(t, scene, "Bob opens", { lie, play: reads(bob) }, ["as honest"]);
});

await t.test("a client never goes back behind what it has seen", async (t) => {
  let lies = false;
  const lie: Lie = eachItem(["GET /api/vaults/{id}", "GET /api/vaults"], (item) =>
    lies && item["id"] === shift.id ? { ...item, key_version: 0 } : item,
  );
  const writes = async (stage: Stage): Promise<Said[]> => {
    lies = false;
    const me = stage.person(bob);
    await me.records.list(shift.id);
    await owner.vaults.rotate(shift.id);
    lies = true;
    const id = newId();
    truth.value(shift.id, id, "password", `written in run ${stage.run}`);
    const fields = { password: `written in run ${stage.run}` };
    await me.records.create(shift.id, { id, type: "login", fields });
    return [];
  };
  const whole = scene.honest(bob);
  await whole.records.list(shift.id);
  await expectAttack(t, scene, "a view from before all rotations", { lie, play: writes }, ["key_rolled_back"]);
});

await t.test("no member is locked out", async (t) => {
  scene.oracle.hostile.delete(trent.publicKey);
  for (const [holder, permission] of [[trent, "manage"]] as const) {
    await owner.folders.share(wages.id, { userId: idOf(holder), permission });
    await owner.vaults.share(shift.id, { userId: idOf(holder), permission });
  }
  for (const who of [olivia, anna, bob, trent]) {
    const me = scene.honest(who);
    t.ok(
      (await me.folders.list()).some(({ id, problem }) => id === wages.id && problem === null),
      who.name,
    );
    t.ok(
      (await me.records.list(shift.id)).some(({ fields }) => fields["password"] === "of the shift"),
      who.name,
    );
  }
  t.match(
    await scene.honest(trent).vaults.rotate(shift.id),
    { left_out: [] },
    "a member who was set again manages again",
  );
  t.match(await scene.honest(trent).folders.rotate(wages.id), { left_out: [] });
  t.strictSame(await scene.oracle.verdict({}), []);
});
