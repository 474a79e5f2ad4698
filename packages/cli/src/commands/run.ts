import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { checkCache, secretsOf } from "../access.ts";
import { childEnvironment } from "../child-environment.ts";
import type { CachedOptions, Call } from "../command-row.ts";
import { usage } from "../failure.ts";
import { inTurn } from "../in-turn.ts";
import { maskedTexts } from "../mask.ts";
import { referencesIn, resolveReferences } from "../references.ts";
import { runChild } from "../run-child.ts";
import { runWatched } from "../run-watched.ts";

interface Options extends CachedOptions {
  mask?: boolean;
  watch?: boolean;
  interval?: string;
  signal?: string;
  wait?: string;
}

/** `coffer run -- <command…>`: runs a command with the secrets that its environment refers to. */
export async function run({ args, options, env }: Call<Options>): Promise<void> {
  checkCache(options, env);
  const variables = childEnvironment(env);
  const references = referencesIn(variables);
  const mask = options.mask ?? (env["CI"] ?? "") !== "";
  const runWith = (values: ReadonlyMap<string, string>, began?: (child: ChildProcess) => void): Promise<number> =>
    runChild(args, { ...variables, ...Object.fromEntries(values) }, mask ? maskedTexts(values.values()) : [], began);
  const [signal, intervalSeconds] = [signalOf(options.signal), secondsOf("--interval", options.interval ?? "60", 1)];
  const wait = options.wait === undefined ? Infinity : secondsOf("--wait", options.wait, 0);
  if (options.watch !== true) {
    const client = references.size === 0 ? undefined : await secretsOf(options, env);
    const values =
      client === undefined
        ? new Map<string, string>()
        : await inTurn(() => resolveReferences(references, () => Promise.resolve(client)), wait);
    process.exitCode = await runWith(values);
    return;
  }
  if (references.size === 0) throw usage("nothing to watch: no variable refers to a secret");
  const client = await secretsOf(options, env);
  process.exitCode = await runWatched({
    client,
    references,
    intervalSeconds,
    maxWaitSeconds: wait,
    signal,
    run: runWith,
  });
}

function signalOf(name: string | undefined): NodeJS.Signals | undefined {
  if (name === undefined) return undefined;
  const long = name.toUpperCase().replace(/^(?:SIG)?/, "SIG");
  if (!(long in constants.signals)) throw usage(`--signal ${name}: there is no such signal`);
  return long as NodeJS.Signals; // it is one of the names
}

function secondsOf(flag: string, text: string, least: number): number {
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds < least || seconds > 86_400)
    throw usage(`${flag} ${text}: from ${least} to 86400 seconds`);
  return seconds;
}
