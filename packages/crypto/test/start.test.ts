import { spawnSync } from "node:child_process";
import t from "tap";

/** The packages that are loaded by the time this code has run; it imports from `index`. */
function loadedBy(code: string): string[] {
  const index = new URL("../src/index.ts", import.meta.url);
  const program = `
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({
      resolve(name, context, next) {
        if (/^[a-z@]/.test(name) && !/^(node|file):/.test(name)) loaded.add(name);
        return next(name, context);
      },
    });
    const index = await import(${JSON.stringify(index.href)});
    ${code}
    process.stdout.write(JSON.stringify([...loaded]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as string[]; // as the program wrote it
}

void t.test("a library that only keys for others need is loaded with the first of them", (t) => {
  t.notOk(loadedBy("").includes("jose"));
  const sealing = `
    const { publicKey, privateKey } = await index.newKeyPair();
    const context = index.contexts.sharedFolderKey(index.newId());
    await index.openSealed(privateKey, await index.seal(publicKey, index.newKey(), context), context);`;
  t.ok(loadedBy(sealing).includes("jose"));
  t.end();
});
