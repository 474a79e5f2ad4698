import type { Expectation, Opening } from "./case-file.ts";
import type { HttpAnswer } from "./connection.ts";
import { CaseFailure, shown } from "./failure.ts";
import { match } from "./match.ts";
import type { Token } from "./organization.ts";
import type { Run } from "./run.ts";
import { type FolderKey, openSealed } from "./seal.ts";
import { evaluate, lookUp } from "./template.ts";

/** Compares a response with the expectation of its step. Throws CaseFailure. */
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

/** Opens the values that a step names. Throws CaseFailure. */
export async function checkOpening(run: Run, opening: Opening): Promise<void> {
  const { as, gives, uid, field, dek } = (await evaluate({ ...opening, sealed: "" }, run.scope)) as Opening; // evaluation preserves the shape
  const folder = lookUp(opening.folder, run.scope) as FolderKey; // every folder's name is in `folders`
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
