import t from "tap";
import { mutants } from "./sync-property/mutants.ts";
import { createWorld } from "./sync-property/world.ts";

// A given seed repeats a run, as far as the machine's timing allows.
const seed = Number(process.env["COFFER_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
t.comment(`COFFER_TEST_SEED=${seed}`);

const nothing = { missed: 0, stale: 0, leaked: 0 };

await t.test("a device that syncs afterwards has the exact records and never received others", async (t) => {
  const world = await createWorld(t, { seed });
  for (let round = 1; round <= 5; round += 1) t.same(await world.round(), nothing, `round ${round}`);
  t.comment(`${await world.writes()} writes, ${world.cutOff} cut off by the end of their replica`);
  t.ok(world.cutOff > 0, "replicas died in the middle of transactions");
});

for (const mutant of mutants) {
  await t.test(`the mutant is caught: ${mutant.name}`, async (t) => {
    const world = await createWorld(t, { seed, mutant });
    let wrong = 0;
    for (let round = 1; round <= 80 && wrong === 0; round += 1) {
      const { missed, stale, leaked } = await world.round();
      wrong = missed + stale + leaked;
    }
    t.ok(world.met, "the mutant's place is there");
    t.ok(wrong > 0, "something was missed, stale or leaked");
  });
}
