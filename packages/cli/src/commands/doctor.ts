import { styleText } from "node:util";
import { version } from "@coffer/sdk/version";
import type { AddressOptions, Call } from "../command-row.ts";
import { type Finding, problem } from "../doctor/finding.ts";
import { checkConfiguration, checkMachine, checkProfile, checkSession } from "../doctor/identity.ts";
import { managementOf } from "../doctor/management-addresses.ts";
import { checkManagement } from "../doctor/management.ts";
import { checkServerConfig } from "../doctor/server-config.ts";
import { checkService } from "../doctor/service.ts";
import { checkSync } from "../doctor/sync.ts";
import { exitCodes } from "../failure.ts";
import { explain } from "../output/explain.ts";
import { print, printExact, printJson, printTable, visible } from "../output/output.ts";
import { profileDirectory } from "../profile/paths.ts";
import { readProfile } from "../profile/profile.ts";
import { machineConfigurationOf } from "../service/access.ts";
import { resolveAddress } from "../service/address.ts";

interface Options extends AddressOptions {
  config?: string;
  json?: boolean;
  management?: string;
  serverConfig?: boolean;
}

/**
 * `coffer doctor`: checks for common problems and prints advice. Exit 1 when there is a problem.
 */
export async function doctor({ options, env }: Call<Options>): Promise<void> {
  const findings = options.serverConfig === true ? checkServerConfig(env) : await checkAll(options, env);
  const broken = findings.some(({ status }) => status === "problem");
  if (options.json === true) printJson({ ok: !broken, version, findings: findings.map(json) });
  else show(findings);
  if (broken) process.exitCode = exitCodes.failure;
}

async function checkAll(options: Options, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const configuration = machineConfigurationOf(options, env);
  const findings = [...(await checkProfile(env))];
  if (configuration !== undefined) findings.push(...(await checkConfiguration(configuration)));
  const url = await addressFor(options, env);
  if (typeof url !== "string") findings.push(url);
  else {
    const { findings: said, reached } = await checkService(url);
    findings.push(...said);
    if (reached) {
      findings.push(await checkSync(url));
      findings.push(
        ...(configuration === undefined
          ? await checkSession(url, options, env)
          : await checkMachine(configuration, options, env)),
      );
    }
  }
  const management = await managementOf(options, typeof url === "string" ? url : undefined, env);
  return management.length === 0 ? findings : [...findings, ...(await checkManagement(management))];
}

/** The address that every other command would use, or why there is none. */
async function addressFor(options: Options, env: NodeJS.ProcessEnv): Promise<string | Finding> {
  const configuration = machineConfigurationOf(options, env);
  try {
    const found = await resolveAddress(options, env, {
      configuration: configuration === undefined ? undefined : await urlIn(configuration),
      profile: async () => (await readProfile(profileDirectory(env)).catch(() => undefined))?.url,
    });
    return found.url;
  } catch (error) {
    return problem("address", explain(error)[0] ?? "there is none", "name it with --url or COFFER_URL");
  }
}

/** Another check reports problems of the configuration. */
async function urlIn(configuration: string): Promise<string | undefined> {
  const { loadConfiguration } = await import("@coffer/sdk/node");
  return loadConfiguration(configuration).then(
    ({ url }) => url,
    () => undefined,
  );
}

const json = ({ check, status, message, advice = null }: Omit<Finding, "advice"> & { advice?: string | null }) => ({
  check,
  status,
  message,
  advice,
});

const colours = { ok: "green", warn: "yellow", problem: "red" } as const;

/** For a terminal one line each, with advice below; otherwise columns. */
function show(findings: readonly Finding[]): void {
  if (!process.stdout.isTTY) {
    printTable(
      [],
      findings.map(({ status, check, message, advice = "" }) => [status, check, message, advice]),
    );
    return;
  }
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { status, check, message, advice } of findings) {
    printExact(
      `${styleText(colours[status], status.padEnd(7), { stream: process.stdout })}  ${check.padEnd(width)}  ${visible(message)}`,
    );
    if (advice !== undefined) print(`${"".padEnd(width + 11)}${advice}`);
  }
}
