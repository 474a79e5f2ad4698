import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Test as TestScope } from "tap";
import type { SeriesCall, SeriesOutcome } from "../command-series.ts";
import { inherited } from "../command.ts";

const program = fileURLToPath(new URL("../command-series.ts", import.meta.url));

/** Runs many calls of the command in one process, which has no terminal to ask at. */
export async function series(calls: readonly SeriesCall[]): Promise<SeriesOutcome[]> {
  const child = spawn(process.execPath, [program], {
    env: inherited(),
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  child.stdin.end(JSON.stringify(calls));
  const [said] = await Promise.all([text(child.stdout), once(child, "close")]);
  return JSON.parse(said) as SeriesOutcome[];
}

const base64 = (given: string): string => Buffer.from(given).toString("base64");

/** Twenty and some ways in which a text arrives broken. */
export const broken: Readonly<Record<string, (given: string) => string>> = {
  "as it is": (given) => given,
  "without its first character": (given) => given.slice(1),
  "without its last character": (given) => given.slice(0, -1),
  "its first half": (given) => given.slice(0, given.length / 2),
  "its second half": (given) => given.slice(given.length / 2),
  twice: (given) => given + given,
  "after a space": (given) => ` ${given}`,
  "with something after it": (given) => `${given}\n}garbage`,
  "in quotes": (given) => `"${given}"`,
  "in single quotes": (given) => `'${given}'`,
  "as a JSON text": (given) => JSON.stringify(given),
  "in upper case": (given) => given.toUpperCase(),
  backwards: (given) => Buffer.from(given).reverse().toString("latin1"),
  "after a byte order mark": (given) => `\uFEFF${given}`,
  "with its variable": (given) => `COFFER_CONFIG=${given}`,
  "as an address": (given) => `http://${given}`,
  "as a path": (given) => `/${given}`,
  "percent-encoded": (given) => encodeURIComponent(given),
  "with a line break in it": (given) => `${given.slice(0, 40)}\n${given.slice(40)}`,
  "with a control character in it": (given) => `${given.slice(0, 30)}\u001b${given.slice(30)}`,
  "without its colons": (given) => given.replaceAll(":", " "),
  "as base64": base64,
  "as base64 of base64": (given) => base64(base64(given)),
  "as url-safe base64": (given) => Buffer.from(given).toString("base64url"),
  "as wrapped base64": (given) => base64(given).replace(/(.{64})/g, "$1\n"),
  "as base64 that is cut short": (given) => base64(given).slice(0, -3),
  "as base64 with a wrong digit": (given) => `${base64(given).slice(0, 100)}!${base64(given).slice(100)}`,
};

function runsOf(given: string): Set<string> {
  return new Set(Array.from({ length: Math.max(given.length - 7, 0) }, (_, index) => given.slice(index, index + 8)));
}

/**
 * What no output may hold of a text in a form: its runs of eight characters, but for those of it
 * without its secrets.
 */
export function needlesOf(given: string, without: string, form: (given: string) => string): string[] {
  const open = runsOf(form(without));
  return [...runsOf(form(given))].filter((run) => !open.has(run) && !/^\s+$/.test(run));
}

export interface Case {
  what: string;
  call: SeriesCall;
  needles: readonly string[];
}

export async function checkSeries(t: TestScope, cases: readonly Case[]): Promise<SeriesOutcome[]> {
  const outcomes = await series(cases.map(({ call }) => call));
  t.equal(outcomes.length, cases.length);
  const leaks = cases.flatMap(({ what, needles }, index) => {
    const { output = "" } = outcomes[index] ?? {};
    return needles.some((needle) => output.includes(needle)) ? [what] : [];
  });
  t.same(leaks, [], "no output repeats eight characters of a secret");
  return outcomes;
}
