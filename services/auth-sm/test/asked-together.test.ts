import t from "tap";
import { call } from "./support/call.ts";
import { ask, createFolder, createMachine, createSecret, type Machine, secretBody } from "./support/machines.ts";
import { register, sealed } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const stranger = await register(service, { orgName: "Elsewhere" });

/** A machine with its own folder, in which it has made a secret. */
async function makeHolder(person = owner): Promise<{ machine: Machine; uid: string; value: string; folder: string }> {
  const folder = await createFolder(service, person);
  const machine = await createMachine(service, person, [{ folder_id: folder, permission: "write" }]);
  const value = sealed();
  const uid = await createSecret(service, machine, folder, { title: "database", fields: { password: value } });
  return { machine, uid, value, folder };
}

await t.test("simultaneous requests of machines are checked one by one and each gets its own answer", async (t) => {
  const [first, second, revoked, foreign] = [
    await makeHolder(),
    await makeHolder(),
    await makeHolder(),
    await makeHolder(stranger),
  ];
  const client = `/api/org/applications/${revoked.machine.applicationId}/clients/${revoked.machine.clientId}`;
  t.equal((await call(service, "DELETE", client, { token: owner.token })).status, 204);
  const own = { of: first, statuses: [200, 403, 401, 404], making: [201, 403, 401, 403] };
  const others = { of: second, statuses: [403, 200, 401, 404], making: [403, 201, 401, 403] };
  const cases = [own, others, own].flatMap(({ of, statuses, making }) =>
    [first, second, revoked, foreign].map(({ machine }, index) => ({
      of,
      machine,
      status: statuses[index],
      made: making[index],
    })),
  );

  const reads = ({ machine, of }: (typeof cases)[number]) => [
    ask(service, machine, "GET", `/secrets/${of.uid}`),
    ask(service, machine, "GET", `/secrets/${of.uid}/fields/password`),
    ask(service, machine, "POST", "/notation", {
      body: { notation: `coffer://${of.folder}/database/field/password` },
    }),
  ];
  for (let round = 1; round <= 5; round += 1) {
    const answers = await Promise.all(cases.map((each) => Promise.all(reads(each))));
    for (const [index, { of, status }] of cases.entries()) {
      const [whole, field, resolved] = answers[index] ?? [];
      t.same([whole?.status, field?.status, resolved?.status], [status, status, status], `case ${index}`);
      if (status !== 200) continue;
      t.match(whole?.body, { uid: of.uid, folder_id: of.folder });
      t.match([field?.body, resolved?.body], [{ value_encrypted: of.value }, { value_encrypted: of.value }]);
    }
  }

  const content = () => ({ encrypted_payload: sealed(), wrapped_dek: sealed() });
  const writes = ({ machine, of }: (typeof cases)[number]) => [
    ask(service, machine, "PUT", `/secrets/${of.uid}`, { body: content() }),
    ask(service, machine, "POST", "/secrets", { body: secretBody(of.folder) }),
  ];
  for (let round = 1; round <= 5; round += 1) {
    const answers = await Promise.all(cases.map((each) => Promise.all(writes(each))));
    for (const [index, { of, status, made }] of cases.entries()) {
      const [update, creation] = answers[index] ?? [];
      t.same([update?.status, creation?.status], [status, made], `case ${index}`);
      if (status === 200) t.match(update?.body, { uid: of.uid, folder_id: of.folder });
      if (made === 201) t.match(creation?.body, { folder_id: of.folder, version: 1 });
    }
  }
});
