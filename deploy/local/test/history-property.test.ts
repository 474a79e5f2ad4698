import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { createWorld } from "./history-property/world.ts";
import { npmStart } from "./npm-start.ts";

// A seed repeats a run, as far as the machine's timing allows. PROPERTY_STEPS makes a longer run.
const seed = Number(process.env["PROPERTY_SEED"] ?? 1);
const steps = Number(process.env["PROPERTY_STEPS"] ?? 240);
t.comment(`PROPERTY_SEED=${seed} PROPERTY_STEPS=${steps}`);

const coffer = npmStart(t, {
  directory: testDirectory(t),
  env: { COFFER_LIMIT_STRICT: "1000000", COFFER_LIMIT_STANDARD: "1000000", COFFER_LIMIT_USER: "1000000" },
});
const { url } = await coffer.ready;

/** The steps after which all actors must be able to continue. */
const between = 60;

/** Organizations that do all this at the same time. */
const worlds = [
  { name: "a service that lies", lying: true, steps },
  { name: "another one that lies", lying: true, steps },
  { name: "an honest service", lying: false, steps: steps / 2 },
];

/** All end when one has found something. */
let found = false;
const runs = worlds.map(async ({ lying, steps: most }, index) => {
  const world = await createWorld(url, seed + index);
  for (let step = 1; step <= most && !found; step += 1) {
    await world.step(lying);
    if (step % between === 0) await world.recover();
    found ||= world.violations.length > 0;
  }
  return world;
});
// One that fails says so in its test.
for (const run of runs) run.catch(() => undefined);

for (const [index, { name }] of worlds.entries())
  await t.test(`${name}: no client uses a wrong key, and in the end none is locked out`, async (t) => {
    const world = await runs[index]?.finally(() => {
      if (coffer.stderr() !== "") t.comment(coffer.stderr().slice(-2_000));
    });
    t.comment(JSON.stringify(Object.fromEntries(world?.outcomes ?? [])));
    if (world?.violations.length !== 0) for (const line of world?.trace ?? []) t.comment(line);
    t.same(world?.violations, []);
    t.ok((world?.outcomes.get("done") ?? 0) > 0, "something was done");
  });
