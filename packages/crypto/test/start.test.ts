import { loadedPackages } from "@coffer/testkit";
import t from "tap";

const index = new URL("../src/index.ts", import.meta.url);

void t.test("the JWE library is loaded with the first sealed key", (t) => {
  t.notOk(loadedPackages(index).includes("jose"));
  const sealing = `
    const { publicKey, privateKey } = await loaded.newKeyPair();
    const context = loaded.contexts.sharedFolderKey(loaded.newId());
    await loaded.openSealed(privateKey, await loaded.seal(publicKey, loaded.newKey(), context), context);`;
  t.ok(loadedPackages(index, sealing).includes("jose"));
  t.end();
});
