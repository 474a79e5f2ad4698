import t from "tap";
import { caseFile } from "../src/case-file.ts";
import { schedule, sideBySide } from "../src/schedule.ts";

const named = (name: string, steps: unknown[]) => ({
  name,
  ...caseFile.parse({ proves: ["1"], says: "It is so.", steps }),
});
const quick = Array.from({ length: 4 * sideBySide }, (_, index) =>
  named(`quick/${index}`, [{ send: "GET /", expect: { status: 200 } }]),
);
const patient = Array.from({ length: 3 }, (_, index) => named(`patient/${index}`, [{ pause: 5 }]));

/** Runs quick and patient cases; for each, how many quick ones and how many in all ran when it began. */
async function counted(forwarded: boolean): Promise<Map<string, { quick: number; all: number }>> {
  const running = new Set<string>();
  const began = new Map<string, { quick: number; all: number }>();
  await schedule([...quick, ...patient], forwarded, async ({ name }) => {
    running.add(name);
    began.set(name, { quick: [...running].filter((each) => each.startsWith("quick")).length, all: running.size });
    // A patient case ends before the quick ones do, so that a place it leaves free would be seen.
    for (let turn = 0; turn < (name.startsWith("quick") ? 10 : 3); turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
    running.delete(name);
  });
  return began;
}

await t.test("cases that mostly wait run beside the others, whose number they do not change", async (t) => {
  const began = await counted(true);
  t.equal(began.size, quick.length + patient.length);
  t.equal(Math.max(...Array.from(began.values(), (each) => each.quick)), sideBySide);
  t.equal(Math.max(...Array.from(began.values(), (each) => each.all)), sideBySide + patient.length);
});

await t.test("with one source address each case runs alone", async (t) => {
  const began = await counted(false);
  t.equal(began.size, quick.length + patient.length);
  t.ok([...began.values()].every(({ all }) => all === 1));
});
