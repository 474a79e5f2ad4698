import t from "tap";
import type * as Index from "../src/index.ts";
import { contexts, decodeBase64, encodeBase64, newKey, openSealed, seal } from "../src/index.ts";
import { startBrowser } from "./browser/start.ts";
import type * as Check from "./vectors/check.ts";
import { checkedElsewhere, vectorFiles } from "./vectors/files.ts";
import type * as RoundTrips from "./vectors/round-trips.ts";

/** Where the browser finds the files that Node runs. */
const served = {
  check: "/packages/crypto/test/vectors/check.ts",
  roundTrips: "/packages/crypto/test/vectors/round-trips.ts",
  index: "/packages/crypto/src/index.ts",
};
const folder = contexts.sharedFolderKey("01900000-0000-7000-8000-000000000000");

void t.test("the same sources in a browser", async (t) => {
  const { openPage } = await startBrowser(t);
  const page = await openPage();

  await t.test("find nothing there that only Node has", async (t) => {
    const kinds = await page.evaluate(() =>
      ["process", "Buffer", "require"].map((name) => typeof Reflect.get(globalThis, name)),
    );
    t.strictSame(kinds, ["undefined", "undefined", "undefined"]);
  });

  for (const [file, text] of Object.entries(vectorFiles())) {
    if (checkedElsewhere.includes(file)) continue;
    await t.test(`do what ${file} says`, async (t) => {
      const checked = await page.evaluate(
        async ({ check, name, text }) => {
          const { checkVectors } = (await import(check)) as typeof Check;
          return checkVectors(name, JSON.parse(text));
        },
        { check: served.check, name: file.replace(".json", ""), text },
      );
      t.ok(checked.length > 3, `${checked.length} vectors`);
      for (const { name, problem } of checked) t.equal(problem, null, name);
    });
  }

  await t.test("read random values that they make", async () => {
    await page.evaluate(async (roundTrips) => {
      const module = (await import(roundTrips)) as typeof RoundTrips;
      await module.roundTrips();
    }, served.roundTrips);
  });

  await t.test("open what Node sealed, and Node opens with a key that was made there", async (t) => {
    const pair = await page.evaluate(async (index) => {
      const { encodeBase64, newKeyPair } = (await import(index)) as typeof Index;
      const { publicKey, privateKey } = await newKeyPair();
      return { publicKey, privateKey: encodeBase64(privateKey) };
    }, served.index);
    const key = newKey();
    const sealed = await seal(pair.publicKey, key, folder);
    const opened = await page.evaluate(
      async ({ index, sealed, privateKey, folder }) => {
        const { decodeBase64, encodeBase64, openSealed } = (await import(index)) as typeof Index;
        return encodeBase64(await openSealed(decodeBase64(privateKey), sealed, folder));
      },
      { index: served.index, sealed, privateKey: pair.privateKey, folder },
    );
    t.equal(opened, encodeBase64(key));
    t.strictSame(await openSealed(decodeBase64(pair.privateKey), sealed, folder), key);
  });

  await t.test("load the WebAssembly of OPAQUE with the subpath that needs it, and with no other", async (t) => {
    const loaded = await openPage();
    const paths: string[] = [];
    loaded.on("request", (request) => paths.push(new URL(request.url()).pathname));
    await loaded.evaluate((index) => import(index), served.index);
    t.ok(paths.includes(served.index));
    t.notOk(paths.some((path) => path.includes("opaque")));
    await loaded.evaluate((index) => import(index.replace("index.ts", "opaque.ts")), served.index);
    t.ok(paths.includes("/node_modules/@serenity-kit/opaque/esm/index.js"));
  });
});
