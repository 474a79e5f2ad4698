import type { Call, DataOptions } from "../../command-row.ts";
import { exitCodeFor, Failure } from "../../failure.ts";
import { secretNotationArgument } from "../../input/notation-argument.ts";
import { explain } from "../../output/explain.ts";
import { printJson, printNotice, visible } from "../../output/output.ts";
import { secretsOf } from "../../service/access.ts";

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
