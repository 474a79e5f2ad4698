import { CofferError } from "../errors.ts";
import { foldersFor, requireFolder } from "../folders/fresh-folders.ts";
import type { SecretView } from "../views.ts";
import { fieldOf, findSecret } from "./find-secret.ts";
import { notationScheme, parseNotation, parseSecretNotation } from "./notation.ts";
import { openSecret, type Secret } from "./sealed-secret.ts";
import { folderById, secretByUid } from "./secret-by-uid.ts";
import type { SecretCache } from "./secret-cache.ts";
import { preferPresent } from "./secret-expiry.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import { isSecretUid } from "./secret-uid.ts";

/** The caller's secrets, from the cached list. */
export interface NamedSecrets {
  store: SecretStore;
  cache: SecretCache;
  /** The secrets in folders whose key the caller has. */
  usableViews(): Promise<SecretView[]>;
}

/**
 * The values of several notations, by notation, from one list. Throws CofferError
 * `secret_not_found`, also for an expired secret.
 */
export async function readValues(
  { store, cache }: NamedSecrets,
  texts: Iterable<string>,
): Promise<Map<string, string>> {
  const wanted = [...new Set(texts)].map((text) => ({ text, notation: parseNotation(text) }));
  if (wanted.length === 0) return new Map();
  const named = new Map<string, OpenFolder>();
  for (const { notation } of wanted) named.set(notation.folder, await requireFolder(store, notation.folder));
  const ids = new Set([...named.values()].map(({ id }) => id));
  const views = (await cache.views([...named.values()])).filter((view) => ids.has(view.folder_id));
  const folders = await foldersFor(store, views);
  const secrets = new Map<string, Promise<Secret>>();
  const values = wanted.map(async ({ text, notation }) => {
    const folder = folderById(folders, named.get(notation.folder)?.id);
    const view = await findSecret(views, folder, notation.title, store.unsealedTitles);
    if (view === undefined) throw new CofferError("secret_not_found", `${text}: no such secret in ${folder.name}`);
    if (view.expired === true)
      throw new CofferError("secret_not_found", `${text}: the secret expired at ${view.expires_at ?? "some time"}`);
    const secret = secrets.get(view.uid) ?? openSecret(view, folder);
    secrets.set(view.uid, secret);
    return [text, fieldOf(await secret, notation.field)] as const;
  });
  return new Map(await Promise.all(values));
}

/**
 * The secret with a uid, an exact title, or of a notation. Throws CofferError `secret_not_found`,
 * `name_ambiguous`.
 */
export async function namedSecret(secrets: NamedSecrets, name: string): Promise<Secret> {
  if (isSecretUid(name)) return secretByUid(secrets.store, name);
  if (!name.startsWith(notationScheme)) return titled(secrets, name);
  const { folder, title, field } = parseSecretNotation(name);
  const secret = await inFolder(secrets, folder, title);
  if (field !== undefined) fieldOf(secret, field);
  return secret;
}

async function inFolder({ store, cache }: NamedSecrets, nameOrId: string, title: string): Promise<Secret> {
  const named = await requireFolder(store, nameOrId);
  const views = (await cache.views([named])).filter((view) => view.folder_id === named.id);
  const folder = folderById(await foldersFor(store, views), named.id);
  const view = await findSecret(views, folder, title, store.unsealedTitles);
  if (view !== undefined) return openSecret(view, folder);
  throw new CofferError("secret_not_found", `there is no secret ${title} in ${folder.name}`);
}

async function titled({ store, usableViews }: NamedSecrets, title: string): Promise<Secret> {
  const views = await usableViews();
  const folders = (await foldersFor(store, views)).filter(({ key }) => key !== null);
  const found: { folder: OpenFolder; view: SecretView }[] = [];
  for (const folder of folders) {
    const view = await findSecret(views, folder, title, store.unsealedTitles);
    if (view !== undefined) found.push({ folder, view });
  }
  const [first, ...others] = preferPresent(found, ({ view }) => view);
  if (first === undefined)
    throw new CofferError("secret_not_found", `no folder of yours holds a secret with the title ${title}`);
  if (others.length === 0) return openSecret(first.view, first.folder);
  const uids = [first, ...others].map(({ folder, view }) => `${view.uid} in ${folder.name}`).join(" or ");
  throw new CofferError(
    "name_ambiguous",
    `${others.length + 1} secrets have the title ${title}: name one by its uid, ${uids}`,
  );
}
