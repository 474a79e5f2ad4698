import t from "tap";
import { idOf, withMallory } from "../server/departed-manager.ts";

for (const kind of ["folder", "vault"] as const)
  await t.test(`\`${kind} trust\` does not take a name that others have chosen`, async (t) => {
    const { alice, olga, server, folder, vault } = await withMallory(t);
    const own = kind === "folder" ? folder : vault;
    const name = kind === "folder" ? "payroll" : "Team";
    const [me, other] = [alice.client(), olga.client()];
    const made = kind === "folder" ? other.folders : other.vaults;
    const mine = kind === "folder" ? me.folders : me.vaults;
    const { id } =
      kind === "folder"
        ? await other.folders.create("staging")
        : await other.vaults.create("staging", { type: "shared" });
    await made.share(id, { userId: idOf(alice), permission: "write" });
    await mine.accept(id);
    await (kind === "folder" ? other.folders.rename(id, name) : other.vaults.update(id, { name }));
    await mine.list();
    await mine.trust(id, () => Promise.resolve(true));
    // The service hides the one that Alice means.
    server.lie = ({ path }, { body }) => {
      const { data } = body as { data?: { id: string }[] };
      const isList = path === "/api/org/folders" || path.startsWith("/api/vaults?");
      return isList ? { ...(body as object), data: data?.filter((one) => one.id !== own) } : body;
    };
    const used: Promise<unknown> =
      kind === "folder"
        ? alice.client().secrets.set(`coffer://${name}/a/field/b`, "x")
        : alice.client().vaults.find(name);
    await t.rejects(used, { code: "name_ambiguous" });
  });
