import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { limits } from "./limits.ts";
import { systematic } from "./systematic.ts";
import { createWire } from "./wire.ts";
import { npmStart } from "../npm-start.ts";

// A server that lies about one member of one response, at each step of a journey through all features. The
// seed chooses the lies; HOSTILE_SEED changes it, HOSTILE_EACH makes a longer run. `npm run hostile` plays
// all of them.

const seed = process.env["HOSTILE_SEED"] ?? "1";
const each = Number(process.env["HOSTILE_EACH"] ?? 6);
t.comment(`HOSTILE_SEED=${seed} HOSTILE_EACH=${each}`);

await t.test("no lie makes a client print, encrypt or seal wrongly", async (t) => {
  const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
  const onStep = (line: string): void => t.comment(line);
  const { findings, lies, outcomes } = await systematic({ wire: createWire(url), seed, each, onStep });
  t.strictSame(findings, [], `no finding (HOSTILE_SEED=${seed})`);
  t.ok(lies > 4 * each, "lies were told", { lies });
  t.ok((outcomes.get("as honest") ?? 0) > 0, "some change nothing");
  t.ok(outcomes.size > 3, "some are refused", { outcomes: [...outcomes] });
});
