import t from "tap";
import { makeTestDirectory, removeTestDirectory } from "@coffer/testkit";
import { provideImages } from "./images.ts";
import { install, makeNamespace, makeSecret, removeNamespace, valuesFor } from "./install.ts";
import { readOptions, usage } from "./options.ts";
import type { Options } from "./options.ts";
import { steps } from "./steps.ts";

// The chart on a real Kubernetes: npm run test:cluster.

const options = readOptions(process.argv.slice(2));
if (options === null) process.stdout.write(usage);
else await play(options);

async function play(chosen: Options): Promise<void> {
  const directory = makeTestDirectory();
  t.setTimeout(3_600_000);
  t.teardown(async () => {
    if (!chosen.keep) await removeNamespace();
    removeTestDirectory(directory);
  });
  const stores = await provideImages(chosen, directory);
  await removeNamespace();
  const values = await valuesFor(chosen, stores);
  await t.test("helm install", async (t) => {
    await makeNamespace();
    await makeSecret();
    const began = performance.now();
    const notes = await install(directory, values);
    t.comment(`everything is ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    t.match(notes, "Coffer");
  });
  for (const { name, play: playStep } of steps.filter(({ name }) => name.includes(chosen.only)))
    await t.test(name, (t) => playStep(t, { options: chosen, values, directory }));
}
