import { isUuid } from "./asked-for.ts";
import { CofferError } from "./errors.ts";
import { openTitle, readable } from "./sealed-secret.ts";
import type { Secret } from "./sealed-secret.ts";
import type { OpenFolder } from "./secret-store.ts";
import type { SecretView } from "./views.ts";

/**
 * The folder with that name or id, without regard to case; undefined when there is none. What may be an id is never a
 * name: the service says the names, and would choose another folder by calling it so.
 */
export function folderOf(folders: readonly OpenFolder[], nameOrId: string): OpenFolder | undefined {
  if (isUuid(nameOrId)) return folders.find(({ id }) => id === nameOrId.toLowerCase());
  const name = folded(nameOrId);
  return folders.find((folder) => folded(folder.name) === name);
}

/** As the service compares names: of the forms of a letter, and of upper and lower case, each is as good. */
function folded(name: string): string {
  return name.normalize("NFKC").toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
}

/**
 * The secret of that uid or exact title among a folder's secrets; undefined when there is none. A title that the
 * server shows is believed only when the sealed one, or without one the payload's name, says the same. A secret that
 * cannot be opened, such as another program's, has no title.
 * Throws CofferError `invalid_request` naming the count when several have the title, `not_decrypted` when the server
 * shows it for one that cannot be opened and no other has it, and what `keyOf` throws.
 */
export async function findSecret(
  views: readonly SecretView[],
  folder: OpenFolder,
  title: string,
): Promise<SecretView | undefined> {
  const inFolder = views.filter((view) => view.folder_id === folder.id);
  const byUid = inFolder.find(({ uid }) => uid === title);
  if (byUid !== undefined) return byUid;
  const candidates = inFolder.filter((view) => (view.title || title) === title);
  const titles = await Promise.all(candidates.map((view) => readable(folder, openTitle(view, folder))));
  const matches = candidates.filter((_view, index) => titles[index] === title);
  if (matches.length > 1)
    throw new CofferError(
      "invalid_request",
      `${matches.length} secrets in ${folder.name} have the title ${title}: name one by its uid`,
    );
  const claimed = titles.find((one, index) => one instanceof CofferError && candidates[index]?.title === title);
  if (matches.length === 0 && claimed instanceof CofferError) throw claimed;
  return matches[0];
}

/** The value of a field. Throws CofferError `secret_not_found` naming the fields that there are. */
export function fieldOf(secret: Secret, name: string): string {
  const value = Object.hasOwn(secret.fields, name) ? secret.fields[name] : undefined;
  if (value !== undefined) return value;
  const present = Object.keys(secret.fields).join(", ");
  throw new CofferError(
    "secret_not_found",
    `${secret.title} in ${secret.folder} has no field ${name}${present === "" ? "" : `; it has: ${present}`}`,
  );
}

/** Secrets whose title contains the text, without regard to case: exact first, then those that start with it. */
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
