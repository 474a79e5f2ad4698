import type { ClosedInvitation, TokenRequest } from "@coffer/sdk";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { momentAfter } from "../../input/moment.ts";
import { print, printJson, printList, printNotice, shortTime } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";
import { type ApplicationOptions, ofApplications } from "../../service/of-applications.ts";
import { pick } from "../../service/pick.ts";

interface CreateOptions extends PersonOptions {
  app: string;
  folder: string[];
  name?: string;
  expires?: string;
  clientExpires?: string;
  cidr?: string[];
}

/**
 * `coffer token create`: makes a one-time token here, with the folder keys sealed for it, and
 * prints it once.
 */
export async function createToken({ options, env }: Call<CreateOptions>): Promise<void> {
  const grants = options.folder.map(grantOf);
  const now = Date.now();
  const expiresAt = options.expires === undefined ? undefined : momentAfter(now, options.expires);
  const clientExpiresAt = options.clientExpires === undefined ? undefined : momentAfter(now, options.clientExpires);
  const person = await asPerson(options, env);
  const application = pick(await person.applications.list(), options.app, "application");
  const folders: TokenRequest["folders"] = [];
  for (const { folder, permission } of grants)
    folders.push({ folderId: (await person.folders.find(folder)).id, permission });
  const token = await person.tokens.create({
    applicationId: application.id,
    name: options.name ?? application.name,
    folders,
    expiresAt,
    clientExpiresAt,
    allowedCidrs: options.cidr,
  });
  printNotice(`one-time token for ${application.name}, until ${shortTime(token.expires_at)}; it is shown this once`);
  if (options.json === true) printJson(token);
  else print(token.token);
}

/** `production:read`: a folder by name or id, and the machine's permission. */
function grantOf(text: string): { folder: string; permission: "read" | "write" } {
  const [, folder, permission] = /^(.+):(read|write)$/s.exec(text) ?? [];
  if (folder === undefined) throw usage(`--folder ${text}: write <folder>:read or <folder>:write`);
  return { folder, permission: permission === "write" ? "write" : "read" };
}

/** `coffer token ls`: the tokens of an application, or of all. */
export async function listTokens({ options, env }: Call<ApplicationOptions>): Promise<void> {
  const tokens = (await allTokens(options, env)).found;
  printList(
    tokens,
    options,
    ["ID", "APPLICATION", "NAME", "STATUS", "EXPIRES"],
    ({ id, application, name, status, expires_at }) => [id, application, name, status, shortTime(expires_at)],
  );
}

/** `coffer token rm <id>`: revokes an unused token. */
export async function removeToken({ args: [id = ""], options, env }: Call<ApplicationOptions>): Promise<void> {
  const { person, found } = await allTokens(options, env);
  const token = found.find((one) => one.id === id);
  if (token === undefined) throw new Failure(exitCodes.notFound, `there is no token ${id} that you may see`);
  const closed = await person.tokens.remove(token.application_id, id);
  printNotice(`revoked the token ${token.name}`);
  printClosed(closed);
  if (closed.length > 0) return;
  const open =
    "no folder that you manage had an invitation of it open. If one should have had, a machine may still join with the " +
    "token: `coffer folder rotate <folder>` names each holder that gets the next key";
  // Of an unused one an invitation is open. The service may have named another tag.
  if (token.status === "unused") throw new Failure(exitCodes.failure, open);
  printNotice(open);
}

/** Names the folders whose histories no longer have an invitation open, or could not be changed. */
export function printClosed(closed: readonly ClosedInvitation[]): void {
  for (const { name, hidden } of closed)
    printNotice(
      hidden === true
        ? `the service does not show ${name}, whose history may have an open invitation`
        : `the history of ${name} has no open invitation of it any more`,
    );
}

function allTokens(options: ApplicationOptions, env: NodeJS.ProcessEnv) {
  return ofApplications(options, env, (person, id) => person.tokens.list(id));
}
