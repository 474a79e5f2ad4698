import t from "tap";
import { createFolder } from "../support/machines.ts";
import { execute, startCompany } from "../support/members.ts";
import { rotate, rotationOf, sealedWith } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { owner, orgId } = await startCompany(service);

/** Fills a folder with secrets of 1 KiB, each with a title and a field. */
const fill = (folderId: string, count: number) =>
  execute(
    service,
    `INSERT INTO auth_sm.secrets (org_id, uid, folder_id, record_type, title, title_folded, title_encrypted,
       encrypted_payload, wrapped_dek, fields, field_names, key_version, version, created_at, updated_at)
     SELECT $1, 's' || lpad(number::text, 21, '0'), $2, 'login', 'title ' || number, 'title ' || number, 'AAAA',
       repeat('A', 1024), 'AAAA', '{"password": "AAAA"}', '{password}', 1, 1, now(), now()
     FROM generate_series(1, $3) AS number`,
    [orgId, folderId, count],
  );

await t.test("a folder of five thousand secrets is rotated as one, or not at all", async (t) => {
  const count = 5000;
  const id = await createFolder(service, owner);
  await fill(id, count);
  const body = await rotationOf(service, owner, id);
  t.ok(JSON.stringify(body).length > 1024 * 1024, "more than other bodies may have");
  const last = body.secrets.length - 1;
  const wrong = {
    ...body,
    secrets: body.secrets.map((secret, at) => (at === last ? { ...secret, version: 2 } : secret)),
  };
  t.equal((await rotate(service, owner, id, wrong)).status, 409);
  const versions =
    "SELECT key_version, version, count(*)::integer FROM auth_sm.secrets WHERE folder_id = $1 GROUP BY 1, 2";
  t.strictSame(await execute(service, versions, [id]), [{ key_version: 1, version: 1, count }]);
  const started = performance.now();
  t.equal((await rotate(service, owner, id, body)).status, 200);
  t.comment(`${Math.round(performance.now() - started)} ms`);
  t.strictSame(await execute(service, versions, [id]), [{ key_version: 2, version: 2, count }]);
  const record = await service.observer.record(
    "the rotation",
    ({ action, outcome }) => action === "folder.key.rotated" && outcome === "success",
  );
  t.equal(record.count, count);
});

await t.test("a body has at most 32 MiB", async (t) => {
  const id = await createFolder(service, owner);
  const most = 32 * 1024 * 1024;
  const body = JSON.stringify({ ...(await rotationOf(service, owner, id)), ignored: sealedWith(1) });
  t.equal((await rotate(service, owner, id, body.padEnd(most + 1))).status, 413);
  t.equal((await rotate(service, owner, id, body.padEnd(most))).status, 200);
});
