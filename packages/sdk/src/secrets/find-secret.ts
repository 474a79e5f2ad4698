import { CofferError } from "../errors.ts";
import { folded } from "../folded.ts";
import { isUuid } from "../http/require-requested.ts";
import type { SecretView } from "../views.ts";
import { openTitle, readable, type Secret, unsealedTitleProblem } from "./sealed-secret.ts";
import { preferPresent } from "./secret-expiry.ts";
import type { OpenFolder } from "./secret-store.ts";

/** A folder or vault that a name may mean. */
interface Named {
  id: string;
  name: string;
  /** Whether the caller has made or accepted it; undefined when nothing of it is verified. */
  trusted?: boolean | undefined;
}

/** The folder with that name or id, as `namedBy` finds it. */
export function folderOf(folders: readonly OpenFolder[], nameOrId: string): OpenFolder | undefined {
  return namedBy("folder", folders, nameOrId);
}

/**
 * The object with that name or id, without regard to case; undefined when there is none. A text in
 * the form of an id is never a name. Names come from the histories. A name of an object that is not
 * accepted or not verified counts only if no accepted object has it. Throws CofferError
 * `name_ambiguous` for a name of two accepted ones.
 */
export function namedBy<T extends Named>(noun: string, things: readonly T[], nameOrId: string): T | undefined {
  if (isUuid(nameOrId)) return things.find(({ id }) => id === nameOrId.toLowerCase());
  const name = folded(nameOrId);
  const named = things.filter((thing) => folded(thing.name) === name);
  const accepted = named.filter(({ trusted }) => trusted === true);
  if (accepted.length > 1) throw nameAmbiguous(noun, nameOrId, accepted);
  return accepted[0] ?? named.find(({ trusted }) => trusted === false) ?? named[0];
}

function nameAmbiguous(noun: string, name: string, things: readonly { id: string }[]): CofferError {
  const ids = things.map(({ id }) => id).join(" or ");
  return new CofferError(
    "name_ambiguous",
    `${things.length} ${noun}s have the name ${name}: name one by its id, ${ids}`,
  );
}

/**
 * The secret with that uid or exact sealed title; undefined when there is none. With `unsealed`, a
 * secret without a sealed title is found by the name in its payload, and then by the service's
 * title. A secret that cannot be opened, such as another program's, has no title. Throws
 * CofferError `name_ambiguous` with the uids when several have the title, `invalid_request` when
 * only secrets without a sealed title have it, `not_decrypted` when only an unreadable secret is
 * shown with it, and what `keyOf` throws. Expired secrets count only if all that have the title have
 * expired.
 */
export async function findSecret(
  views: readonly SecretView[],
  folder: OpenFolder,
  title: string,
  unsealed = false,
): Promise<SecretView | undefined> {
  const inFolder = views.filter((view) => view.folder_id === folder.id);
  const byUid = inFolder.find(({ uid }) => uid === title);
  if (byUid !== undefined) return byUid;
  const candidates = inFolder.filter((view) => (view.title || title) === title);
  const titles = await Promise.all(candidates.map((view) => readable(folder, openTitle(view, folder))));
  const isSealed = ({ title_encrypted: sealed }: SecretView): boolean => unsealed || sealed !== "";
  const titled = candidates.filter((view, index) => titles[index] === title && isSealed(view));
  const matches = preferPresent(titled, (view) => view);
  if (matches.length > 1)
    throw new CofferError(
      "name_ambiguous",
      `${matches.length} secrets in ${folder.name} have the title ${title}: name one by its uid, ${matches.map(({ uid }) => uid).join(" or ")}`,
    );
  const claimed = titles.find((one, index) => one instanceof CofferError && candidates[index]?.title === title);
  if (matches.length === 0 && claimed instanceof CofferError) throw claimed;
  if (matches.length === 0 && titles.includes(title))
    throw new CofferError("invalid_request", unsealedTitleProblem(title));
  return matches[0];
}

/**
 * The value of a field. Throws CofferError `secret_not_found` with the names of the existing
 * fields.
 */
export function fieldOf(secret: Secret, name: string): string {
  const value = Object.hasOwn(secret.fields, name) ? secret.fields[name] : undefined;
  if (value !== undefined) return value;
  const present = Object.keys(secret.fields).join(", ");
  throw new CofferError(
    "secret_not_found",
    `${secret.title} in ${secret.folder} has no field ${name}${present === "" ? "" : `; it has: ${present}`}`,
  );
}

/**
 * Secrets whose title contains the text, without regard to case: exact matches first, then
 * prefixes.
 */
export function matching(secrets: readonly Secret[], text: string): Secret[] {
  const wanted = text.toLowerCase();
  const rank = ({ title }: Secret): number => {
    const lower = title.toLowerCase();
    if (lower === wanted) return 0;
    return lower.startsWith(wanted) ? 1 : 2;
  };
  return secrets
    .filter(({ title }) => title.toLowerCase().includes(wanted))
    .sort((a, b) => rank(a) - rank(b) || (a.title < b.title ? -1 : 1));
}
