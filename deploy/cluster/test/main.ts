import t from "tap";
import { makeTestDirectory, removeTestDirectory } from "@coffer/testkit";
import { provideImages } from "./images.ts";
import { install, makeNamespace, makeSecret, removeNamespace, valuesFor } from "./install.ts";
import { refusalEvents, restartedPods } from "./kube.ts";
import { type Options, readOptions, usage } from "./options.ts";
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
  const values = await valuesFor(chosen);
  if (!chosen.kept) {
    await provideImages(chosen, directory);
    await removeNamespace();
    await t.test("helm install", async (t) => {
      await makeNamespace();
      await makeSecret();
      const began = performance.now();
      const notes = await install(directory, values);
      t.comment(`everything is ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
      t.match(notes, "Coffer");
    });
  }
  for (const { name, skip, play: playStep } of steps.filter(({ name }) => name.includes(chosen.only)))
    await t.test(name, { skip: skip?.(chosen) ?? false }, async (t) => {
      const began = new Date();
      await playStep(t, { options: chosen, values, directory });
      t.same(await restartedPods(), [], "no container ended by itself");
      t.same(await refusalEvents(began), [], "no pod was refused");
    });
}
