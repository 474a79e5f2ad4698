import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  fileStorage,
  loadConfiguration,
  makePrivateDirectory,
  saveConfiguration,
  writePrivateFile,
} from "../src/node/index.ts";
import { newFolder, newMachine } from "./server/machine.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

await t.test("a private file has mode 0600, also where a readable one was", async (t) => {
  const path = join(t.testdir({ open: "old" }), "open");
  chmodSync(path, 0o644);
  await writePrivateFile(path, "new");
  t.equal(readFileSync(path, "utf8"), "new");
  t.equal(modeOf(path), 0o600);
});

await t.test("nothing but the file is left in its folder, whether writing went well or not", async (t) => {
  const directory = t.testdir({});
  await writePrivateFile(join(directory, "a"), "text");
  mkdirSync(join(directory, "b"));
  await t.rejects(writePrivateFile(join(directory, "b"), "text"), /not an ordinary file/);
  t.same(readdirSync(directory).sort(), ["a", "b"]);
  const nowhere = join(directory, "none", "file");
  await t.rejects(writePrivateFile(nowhere, "text"), { message: `${nowhere} cannot be written: ENOENT` });
});

await t.test("a symbolic link stays and its target is replaced", async (t) => {
  const directory = t.testdir({ real: "old" });
  const link = join(directory, "link");
  symlinkSync(join(directory, "real"), link);
  await writePrivateFile(link, "new");
  t.equal(readFileSync(join(directory, "real"), "utf8"), "new");
  t.same(readdirSync(directory).sort(), ["link", "real"]);
});

await t.test("a storage that is cleared leaves nothing where its symbolic link leads", async (t) => {
  const directory = t.testdir({ real: "" });
  const link = join(directory, "link");
  symlinkSync(join(directory, "real"), link);
  const storage = fileStorage(link);
  await storage.save("kept");
  t.equal(readFileSync(join(directory, "real"), "utf8"), "kept\n");
  await storage.clear();
  t.notOk(existsSync(join(directory, "real")));
  t.equal(await storage.load(), undefined);
  await storage.clear();
});

await t.test("what a process left that was killed while it wrote is removed, and nothing else", async (t) => {
  const old = [".a.0123456789ab.tmp", ".a.abcdef012345.tmp"];
  const stay = [".a.0123456789abc.tmp", ".a.0123456789AB.tmp", ".a.tmp", ".b.0123456789ab.tmp", "a.0123456789ab.tmp"];
  const directory = t.testdir(Object.fromEntries([...old, ...stay].map((name) => [name, "secret"])));
  mkdirSync(join(directory, ".a.000000000000.tmp"));
  writeFileSync(join(directory, ".a.111111111111.tmp"), "being written");
  const earlier = Date.now() / 1000 - 601;
  for (const name of [...old, ...stay, ".a.000000000000.tmp"]) utimesSync(join(directory, name), earlier, earlier);
  const recent = Date.now() / 1000 - 590;
  utimesSync(join(directory, ".a.111111111111.tmp"), recent, recent);
  await writePrivateFile(join(directory, "a"), "text");
  t.same(readdirSync(directory).sort(), [...stay, ".a.000000000000.tmp", ".a.111111111111.tmp", "a"].sort());
  await writePrivateFile(join(directory, "a"), "text", { alone: true });
  t.same(readdirSync(directory).sort(), [...stay, ".a.000000000000.tmp", "a"].sort(), "whatever its age");
});

await t.test("a private folder is the owner's alone", async (t) => {
  const path = join(t.testdir({}), "a", "b");
  await makePrivateDirectory(path);
  t.equal(modeOf(path), 0o700);
});

await t.test("a configuration that is saved is loaded the same, from its file or as its JSON", async (t) => {
  const path = join(t.testdir({}), "machine.json");
  const machine = await newMachine("http://127.0.0.1:8080", [newFolder("production")]);
  await saveConfiguration(path, machine);
  t.equal(modeOf(path), 0o600);
  t.same(await loadConfiguration(path), machine);
  t.same(await loadConfiguration(readFileSync(path, "utf8")), machine);
});

await t.test("a configuration that cannot be used is an error that says why and quotes nothing", async (t) => {
  const directory = t.testdir({ broken: '{"version":1,"private_key":"c2VjcmV0"}', text: "c2VjcmV0" });
  await t.rejects(loadConfiguration(join(directory, "none")), { code: "configuration", message: /no such file/ });
  for (const name of ["broken", "text"]) {
    const error = await loadConfiguration(join(directory, name)).catch((reason: unknown) => reason as Error);
    t.match(error, { code: "configuration" });
    t.notMatch((error as Error).message, /c2VjcmV0/);
  }
  t.notOk(existsSync(join(directory, "none")));
  writeFileSync(join(directory, "two"), JSON.stringify({ ...(await newMachine("http://x", [])), version: 2 }));
  await t.rejects(loadConfiguration(join(directory, "two")), { code: "configuration", message: /version/ });
});
