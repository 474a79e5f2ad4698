import { parseArgs } from "node:util";
import { makeTestDirectory, removeTestDirectory } from "@coffer/testkit";
import { npmStart } from "../npm-start.ts";
import { limits } from "./limits.ts";
import { systematic } from "./systematic.ts";
import { createWire } from "./wire.ts";

const usage = `npm run hostile -- [--seed S] [--each N] [--step TEXT] [--lie PATTERN]

Plays a journey through all features against a server that lies about one member of one answer at a time. Nothing that the
attacker chose may be printed, nothing encrypted under a key that it knows, no key sealed to one of its keys. Without --each
the whole list is played, which takes hours.

  --seed   which lies --each chooses; printed, so that a run can be repeated
  --each   how many lies of each step
  --step   only steps whose name contains this
  --lie    only lies whose description matches this
`;

/** Plays the lies of the command line on a separate installation. Returns the exit code. */
async function main(): Promise<number> {
  const options = {
    seed: { type: "string", default: `${Date.now()}` },
    each: { type: "string" },
    step: { type: "string", default: "" },
    lie: { type: "string", default: "" },
    help: { type: "boolean", short: "h", default: false },
  } as const;
  const { seed, each, step, lie, help } = parseArgs({ options }).values;
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  const endings: (() => unknown)[] = [];
  const directory = makeTestDirectory();
  try {
    const scope = { teardown: (work: () => unknown) => endings.push(work) };
    const { url } = await npmStart(scope, { directory, env: limits }).ready;
    process.stdout.write(`seed ${seed}\n`);
    const { findings, lies, outcomes } = await systematic({
      wire: createWire(url),
      seed,
      each: each === undefined ? undefined : Number(each),
      only: step,
      about: new RegExp(lie),
      onStep: (line) => process.stdout.write(`${line}\n`),
      onFinding: (finding) => process.stdout.write(`${JSON.stringify(finding, undefined, 2)}\n`),
    });
    for (const [outcome, times] of outcomes) process.stdout.write(`${outcome}: ${times}\n`);
    process.stdout.write(`${lies} lies, ${findings.length} findings\n`);
    return findings.length === 0 ? 0 : 1;
  } finally {
    for (const ending of endings.reverse()) await ending();
    removeTestDirectory(directory);
  }
}

process.exitCode = await main();
