import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import type { CachedOptions, Call } from "../../command-row.ts";
import { usage } from "../../failure.ts";
import { childEnvironment } from "../../run/child-environment.ts";
import { readEnvFiles } from "../../run/env-files.ts";
import { maskedTexts } from "../../run/mask.ts";
import { foldersOf, referencesIn, resolveReferences } from "../../run/references.ts";
import { retryWhenLimited } from "../../run/retry-limited.ts";
import { type MaskedStreams, runChild } from "../../run/run-child.ts";
import { runWatched } from "../../run/run-watched.ts";
import { checkCache, secretsOf } from "../../service/access.ts";
import { unlessVault } from "../../service/vault-for-folder.ts";

interface Options extends CachedOptions {
  envFile?: string[];
  mask?: boolean;
  watch?: boolean;
  interval?: string;
  signal?: string;
  wait?: string;
}

/** `coffer run -- <command…>`: runs a command with the secrets that its environment refers to. */
export async function run({ args, options, env }: Call<Options>): Promise<void> {
  checkCache(options, env);
  const variables = childEnvironment({ ...env, ...(await readEnvFiles(options.envFile ?? [])) });
  const references = referencesIn(variables);
  const folders = foldersOf(references.values());
  const mask = maskedStreams(options.mask, env);
  const runWith = (values: ReadonlyMap<string, string>, began?: (child: ChildProcess) => void): Promise<number> =>
    runChild(
      args,
      { ...variables, ...Object.fromEntries(values) },
      { texts: maskedTexts(values.values()), mask },
      began,
    );
  const [signal, intervalSeconds] = [signalOf(options.signal), secondsOf("--interval", options.interval ?? "60", 1)];
  const waitingItself = { ...options, withoutWaiting: true };
  const wait = options.wait === undefined ? Infinity : secondsOf("--wait", options.wait, 0);
  if (options.watch !== true) {
    const client = references.size === 0 ? undefined : await secretsOf(waitingItself, env);
    const values =
      client === undefined
        ? new Map<string, string>()
        : await unlessVault(folders, waitingItself, env, () =>
            retryWhenLimited(() => resolveReferences(references, () => Promise.resolve(client)), wait),
          );
    process.exitCode = await runWith(values);
    return;
  }
  if (references.size === 0) throw usage("nothing to watch: no variable refers to a secret");
  const client = await secretsOf(waitingItself, env);
  const watched = { client, references, intervalSeconds, maxWaitSeconds: wait, signal, run: runWith };
  process.exitCode = await unlessVault(folders, waitingItself, env, () => runWatched(watched));
}

/**
 * The streams in which values are masked: those that are no terminal, and both in CI. `--mask` and
 * `--no-mask` override it.
 */
function maskedStreams(override: boolean | undefined, env: NodeJS.ProcessEnv): MaskedStreams {
  const everywhere = override ?? ((env["CI"] ?? "") !== "" ? true : undefined);
  return { stdout: everywhere ?? !isatty(1), stderr: everywhere ?? !isatty(2) };
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
