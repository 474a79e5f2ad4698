import { secretsOf } from "../access.ts";
import type { Call, DataOptions } from "../command-row.ts";
import { explain } from "../explain.ts";
import { exitCodeFor, Failure } from "../failure.ts";
import { secretNotationArgument } from "../notation-argument.ts";
import { printJson, printNotice, visible } from "../output.ts";

/**
 * `coffer rm <secret>…`: removes secrets by uid, title or notation, and fields by the notation of
 * the field.
 */
export async function remove({ args, options, env }: Call<DataOptions>): Promise<void> {
  for (const target of args) if (target.includes("://")) secretNotationArgument(target);
  const secrets = await secretsOf(options, env);
  const removed = [];
  for (const target of args) {
    const result = await secrets.remove(target).catch((error: unknown) => {
      throw args.length > 1 ? about(target, error) : error;
    });
    printNotice(result.removed === "field" ? `removed the field ${target}` : `removed the secret ${result.uid}`);
    removed.push(result);
  }
  if (options.json === true) printJson(removed);
}

/** Names the target of the error. Earlier targets are removed already. */
function about(target: string, error: unknown): unknown {
  return error instanceof Error
    ? new Failure(exitCodeFor(error), `${target}: ${explain(error).map(visible).join("; ")}`)
    : error;
}
