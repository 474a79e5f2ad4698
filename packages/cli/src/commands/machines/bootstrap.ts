import { realpath, stat, unlink } from "node:fs/promises";
import {
  bootstrap as bootstrapMachine,
  type BootstrapRequest,
  configurationText,
  type Fingerprint,
  isBootstrapped,
  type MachineConfiguration,
  machineFingerprint,
} from "@coffer/sdk";
import { loadConfiguration, saveConfiguration } from "@coffer/sdk/node";
import type { AddressOptions, Call } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { errorCode } from "../../files/error-code.ts";
import { withFileLock } from "../../files/file-lock.ts";
import { withHeldSignals } from "../../files/held-signals.ts";
import { readToken } from "../../input/inputs.ts";
import { stdinIsTerminal } from "../../input/stdin-is-terminal.ts";
import { fingerprintLines } from "../../output/fingerprint-lines.ts";
import { print, printJson, printNotice, visible } from "../../output/output.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { readProfile } from "../../profile/profile.ts";
import { resolveAddress } from "../../service/address.ts";
import { mannersOf } from "../../service/manners.ts";

interface Options extends AddressOptions {
  config?: string;
  json?: boolean;
}

/**
 * `coffer bootstrap --config <file>`: spends a one-time token and writes the machine's
 * configuration. `-` is stdout, which gets the configuration once: at the end, or, when the
 * bootstrap fails after the token was sent, what there is of it.
 */
export async function bootstrap({ options, env }: Call<Options>): Promise<void> {
  const path = options.config ?? (env["COFFER_CONFIG"] || undefined);
  if (path === undefined || isContent(path)) throw usage("name the file for the machine's configuration with --config");
  if (path === "-") await bootstrapToStdout(options, env);
  else await bootstrapToFile(path, options, env);
}

async function bootstrapToStdout(options: Options, env: NodeJS.ProcessEnv): Promise<void> {
  let draft: MachineConfiguration | undefined;
  try {
    const machine = await spendToken(undefined, options, env, {
      save: (configuration) => Promise.resolve(void (draft = configuration)),
      discard: () => Promise.resolve(void (draft = undefined)),
    });
    await printMachine(machine, "stdout");
  } catch (error) {
    if (draft !== undefined)
      printNotice("coffer: the token may be spent: save stdout to a file, and call again with --config <file>");
    throw error;
  } finally {
    if (draft !== undefined) printJson(draft);
  }
}

/**
 * Holds a lock, so that of two concurrent calls the second finds what the first has made. Otherwise
 * a refused one would remove the machine that the other has bootstrapped.
 */
async function bootstrapToFile(path: string, options: Options, env: NodeJS.ProcessEnv): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const lock = { isHeld: false };
  try {
    await withFileLock(`${target}.bootstrap.lock`, async () => {
      lock.isHeld = true;
      await bootstrapUnderLock(path, options, env);
    });
  } catch (error) {
    throw lock.isHeld ? error : notWritten(error);
  }
}

async function bootstrapUnderLock(path: string, options: Options, env: NodeJS.ProcessEnv): Promise<void> {
  const before = await presentConfiguration(path);
  if (before !== undefined && isBootstrapped(before))
    throw new Failure(
      exitCodes.failure,
      `${visible(path)} holds the machine ${before.client_id} already: name another file, or move this one away`,
    );
  let draft: MachineConfiguration | undefined;
  const machine = await spendToken(before, options, env, {
    save: (configuration) => withHeldSignals(() => save(path, (draft = configuration))),
    discard: () => discard(path, draft),
  });
  const fingerprint = await printMachine(machine, path);
  const { client_id, application_id, org_id } = machine;
  if (options.json === true) printJson({ client_id, application_id, org_id, fingerprint });
  else print(client_id);
}

/** Bootstraps a machine with the one-time token, or continues an earlier bootstrap. */
async function spendToken(
  before: MachineConfiguration | undefined,
  options: Options,
  env: NodeJS.ProcessEnv,
  storage: Pick<BootstrapRequest, "save" | "discard">,
): Promise<MachineConfiguration> {
  const { url } = await resolveAddress(options, env, {
    configuration: before?.url,
    profile: async () => (await readProfile(profileDirectory(env))).url,
  });
  const token = await tokenFor(env, before !== undefined);
  return bootstrapMachine({ url, token, pending: before, ...storage }, mannersOf(options));
}

async function printMachine(machine: MachineConfiguration, place: string): Promise<Fingerprint> {
  printNotice(`bootstrapped; ${place} holds the machine's identity and folder keys: keep it secret`);
  if (place === "stdout") printNotice(`client id: ${machine.client_id}`);
  const fingerprint = await machineFingerprint(machine);
  for (const line of fingerprintLines(fingerprint)) printNotice(line);
  return fingerprint;
}

async function presentConfiguration(path: string): Promise<MachineConfiguration | undefined> {
  const absent = await stat(path).then(
    () => false,
    (error: unknown) => errorCode(error) === "ENOENT",
  );
  return absent ? undefined : loadConfiguration(path);
}

/**
 * Whether a text is a configuration or a token, whole or broken, instead of a path. A path would be
 * written and shown.
 */
function isContent(text: string): boolean {
  return configurationText(text) !== undefined || /["{}\p{Cc}]|[A-Za-z0-9+=_-]{100}|c(?:ft|fi|fr)1_/iu.test(text);
}

/** Throws Failure without the path, which may be a broken configuration. */
async function save(path: string, configuration: MachineConfiguration): Promise<void> {
  await saveConfiguration(path, configuration).catch((error: unknown) => {
    throw notWritten(error);
  });
}

function notWritten(error: unknown): Failure {
  const code = errorCode(error instanceof Error ? (error.cause ?? error) : error) ?? "unknown";
  return new Failure(exitCodes.failure, `the file that --config names cannot be written (${code})`);
}

/** Removes the draft of a refused bootstrap, and no other machine's configuration. */
async function discard(path: string, draft: MachineConfiguration | undefined): Promise<void> {
  const present = await presentConfiguration(path);
  if (present !== undefined && present.client_id === draft?.client_id) await unlink(path);
}

/** The one-time token; undefined when there is none and an earlier call may have spent it. */
async function tokenFor(env: NodeJS.ProcessEnv, mayBeSpent: boolean): Promise<string | undefined> {
  const prompts = stdinIsTerminal() && (env["COFFER_TOKEN"] ?? "") === "";
  const token = mayBeSpent && prompts ? undefined : await readToken(env, "One-time token");
  if (token === undefined && !mayBeSpent) throw usage("no token: give it on stdin or in COFFER_TOKEN");
  return token;
}
