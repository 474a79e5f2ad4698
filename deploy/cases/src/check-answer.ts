import type { Expectation, Opening } from "./case-file.ts";
import type { HttpAnswer } from "./connection.ts";
import { CaseFailure, shown } from "./failure.ts";
import { match } from "./match.ts";
import type { Token } from "./organization.ts";
import type { Run } from "./run.ts";
import type { FolderKey } from "./seal.ts";
import { openSealed } from "./seal.ts";
import { evaluate, lookUp } from "./template.ts";

/** Compares an answer with what a step expects of its request. Throws CaseFailure. */
export function checkAnswer(
  answer: HttpAnswer,
  { status, headers, body }: Expectation,
  { method, path }: { method: string; path: string },
): void {
  if (![status].flat().includes(answer.status)) {
    throw new CaseFailure(
      `${method} ${path} was answered ${answer.status}, expected ${shown(status)}: ${answer.text.slice(0, 200)}`,
    );
  }
  for (const [name, wanted] of Object.entries(headers))
    match(answer.headers.get(name) ?? undefined, wanted, `the header ${name}`);
  if (body === null) match(answer.text, "", "the body");
  else if (body !== undefined) match(answer.json, body, "the body");
}

/** Opens what a step names of an answer. Throws CaseFailure. */
export async function checkOpening(run: Run, opening: Opening): Promise<void> {
  const { as, gives, uid, field, dek } = (await evaluate({ ...opening, sealed: "" }, run.scope)) as Opening; // the shape stays
  const folder = lookUp(opening.folder, run.scope) as FolderKey; // the names of folders are those of `folders`
  const found = await evaluate(opening.sealed, run.scope);
  const sealed = as === "folder_key" ? lookUp(folder.id, found) : found;
  const wrapKey = opening.token === undefined ? undefined : (lookUp(opening.token, run.scope) as Token).wrapKey;
  let opened: unknown;
  try {
    opened = await openSealed({ sealed: String(sealed), as, folder, uid, field, dek, wrapKey });
  } catch (error) {
    throw new CaseFailure(`what was answered as ${as} does not open: ${(error as Error).message}`);
  }
  if (gives !== undefined) match(opened, gives, `what the ${as} holds`);
}
