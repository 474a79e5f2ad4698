import { codeOf } from "../code-of.ts";
import type { PersonClient } from "../people/person-client.ts";

/** The actor or target of an audit record. */
interface Named {
  type: string;
  id: string | null;
}

/**
 * The names of audit actors and targets, by id: e-mails of members, names of machines,
 * applications, folders and the organization. Each kind is requested only when a record shows it.
 * Kinds that the caller may not list, and deleted objects, have no name. Secrets have none, because
 * reading their titles is audited too.
 */
export async function auditNames(person: PersonClient, shown: readonly Named[]): Promise<ReadonlyMap<string, string>> {
  const types = new Set(shown.map(({ type }) => type));
  const names = new Map<string, string>();
  const collect = async <T>(
    list: Promise<readonly T[]>,
    entry: (one: T) => [id: string, name: string],
  ): Promise<void> => {
    for (const one of await allowed(list)) names.set(...entry(one));
  };
  const requests: Promise<void>[] = [];
  if (types.has("user")) requests.push(collect(person.members.list(), ({ user_id, email }) => [user_id, email]));
  if (types.has("folder")) requests.push(collect(person.folders.list(), ({ id, name }) => [id, name]));
  if (types.has("org")) requests.push(collect(person.organizations.list(), ({ id, name }) => [id, name]));
  if (types.has("application") || types.has("client") || types.has("token")) {
    const applications = await allowed(person.applications.list());
    for (const { id, name } of applications) {
      names.set(id, name);
      if (types.has("client")) requests.push(collect(person.machines.list(id), (one) => [one.client_id, one.name]));
      if (types.has("token")) requests.push(collect(person.tokens.list(id), (one) => [one.id, one.name]));
    }
  }
  await Promise.all(requests);
  return names;
}

/** A list; empty when the caller may not read it. */
async function allowed<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await list;
  } catch (error) {
    if (["access_denied", "not_found", "plan_required"].includes(codeOf(error) ?? "")) return [];
    throw error;
  }
}
