import { setInterval } from "node:timers";
import t from "tap";
import { npmStart } from "./npm-start.ts";

// A test with a Coffer, for tests of its end: it fails at once (`bails`, with TAP_BAIL), or runs until it is
// killed.

const [directory = "", end] = process.argv.slice(2);
const coffer = npmStart(t, { directory });
await coffer.ready;
process.stderr.write(`${coffer.pid}\n`);
if (end === "bails") await t.test("one that fails", (t) => t.fail("on request"));
else setInterval(() => undefined, 60_000);
