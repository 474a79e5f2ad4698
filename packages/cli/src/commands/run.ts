import { secretsOf } from "../access.ts";
import { childEnvironment } from "../child-environment.ts";
import type { Call, DataOptions } from "../command-row.ts";
import { maskedTexts } from "../mask.ts";
import { referencesIn, resolveReferences } from "../references.ts";
import { runChild } from "../run-child.ts";

interface Options extends DataOptions {
  mask?: boolean;
}

/** `coffer run -- <command…>`: runs a command with the secrets that its environment refers to. */
export async function run({ args, options, env }: Call<Options>): Promise<void> {
  const variables = childEnvironment(env);
  const values = await resolveReferences(referencesIn(variables), () => secretsOf(options, env));
  const mask = options.mask ?? (env["CI"] !== undefined && env["CI"] !== "" && env["CI"] !== "false");
  process.exitCode = await runChild(
    args,
    { ...variables, ...Object.fromEntries(values) },
    mask ? maskedTexts(values.values()) : [],
  );
}
