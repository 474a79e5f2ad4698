import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createSecret } from "../support/machines.ts";
import { join, orgOf, share } from "../support/members.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);

const titles = [
  `it's "quoted"`,
  String.raw`C:\temp\new \u0041 \\`,
  `","data_encrypted":"YWJj"},{"uid":"`,
  "<b>/</b> & {a: [1]}",
  "\u2028 \u2029 \u00a0 \ufeff",
  "é ü 漢字 😀 \ufffd",
];
await createSecret(service, machine, folder);
await createSecret(service, machine, folder, { fields: {} });
for (const title of titles) {
  const fields = {
    password: sealed(),
    [title]: sealed(),
    "a,b": sealed(),
    "{}": sealed(),
    null: sealed(),
    " ": sealed(),
  };
  const uid = await createSecret(service, machine, folder, { title, fields, title_encrypted: sealed() });
  await ask(service, machine, "PUT", `/secrets/${uid}`, {
    body: { encrypted_payload: sealed(1000), wrapped_dek: sealed(), fields },
  });
}

await t.test("a machine's list and search say of each secret what a read of it says", async (t) => {
  const { body: list } = await ask(service, machine, "GET", "/secrets");
  t.equal(list.data.length, titles.length + 2);
  for (const secret of list.data) {
    const { body } = await ask(service, machine, "GET", `/secrets/${secret.uid}`);
    t.strictSame(secret, { ...body, history_seq: null }, secret.title);
  }
  t.equal(list.data.filter(({ version }: { version: number }) => version === 2).length, titles.length);
  for (const title of titles) {
    const { body } = await ask(service, machine, "GET", `/secrets/search?title=${encodeURIComponent(title)}`);
    t.same(
      body.data,
      list.data.filter((secret: { title: string }) => secret.title === title),
      title,
    );
  }
});

for (const role of ["owner", "auditor"] as const) {
  await t.test(`so does the list of a folder for a person: ${role}`, async (t) => {
    const person = role === "owner" ? owner : await register(service);
    if (role === "auditor") {
      await join(service, await orgOf(service, owner), person, role);
      await share(service, folder, person, "read");
    }
    const { token } = person;
    const path = `/api/org/folders/${folder}/secrets`;
    const { body: list } = await call(service, "GET", path, { token });
    t.equal(list.data.length, titles.length + 2);
    for (const secret of list.data) {
      const { body } = await call(service, "GET", `${path}/${secret.uid}`, { token });
      t.strictSame(secret, { ...body, history_seq: null }, secret.title);
      t.equal("data_encrypted" in secret, role === "owner");
    }
  });
}
