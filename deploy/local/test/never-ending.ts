import { setInterval } from "node:timers";
import t from "tap";
import { npmStart } from "./npm-start.ts";

// A test with a Coffer, for the test of what becomes of that: it fails at once (`bails`, with TAP_BAIL), or goes on until
// somebody ends it.

const [directory = "", end] = process.argv.slice(2);
const coffer = npmStart(t, { directory });
await coffer.ready;
process.stderr.write(`${coffer.pid}\n`);
if (end === "bails") await t.test("one that fails", (t) => t.fail("as it was told"));
else setInterval(() => undefined, 60_000);
