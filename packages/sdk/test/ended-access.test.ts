import t from "tap";
import type { PersonClient } from "../src/index.ts";
import { type Member, startCompany } from "./history-people.ts";

// A device has ended the access of a member, and no entry says so yet. The service goes on with the member.

const idOf = ({ session }: Member): string => session.user.id;
const yes = (): Promise<boolean> => Promise.resolve(true);

/** A folder of Alice's. Mallory's access has ended, and the service keeps it. */
async function withEnded(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const { alice, join, server } = company;
  const mallory = await join("mallory@example.com");
  const { id: folder } = await alice.client().folders.create("production");
  await alice.client().secrets.set("coffer://production/database/field/password", "s3cret");
  await alice.client().folders.share(folder, { userId: idOf(mallory), permission: "write" });
  server.loses = ({ method }) => method === "DELETE";
  await alice.client().folders.unshare(folder, idOf(mallory));
  server.loses = () => false;
  return { ...company, mallory, folder };
}

const ways: Record<string, (me: PersonClient, folder: string) => Promise<unknown>> = {
  "folder trust": (me, folder) => me.folders.trust(folder, yes),
  "keyring trust": (me) => me.keyring.trust(yes),
};
for (const [name, trust] of Object.entries(ways))
  await t.test(`${name} does not forget whose access the device has ended`, async (t) => {
    const { alice, server, mallory, folder } = await withEnded(t);
    await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" }, "before");
    await trust(alice.client(), folder);
    await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" }, "after");
    t.equal(server.folders.get(folder)?.key_version, 1);
    await alice.client().folders.share(folder, { userId: idOf(mallory), permission: "write" });
    t.match(await alice.client().folders.rotate(folder), { left_out: [] }, "unless it is given again");
  });
