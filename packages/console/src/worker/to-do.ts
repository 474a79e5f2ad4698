import type { PersonClient } from "@coffer/sdk";
import type { ToRotate } from "../protocol/sharing.ts";
import type { ToDoItem, ToDoView } from "../protocol/to-do.ts";
import { destinationsView } from "./organization/destinations.ts";
import { confirmedMembers, peopleView } from "./organization/people.ts";
import type { Workspace } from "./workspace.ts";

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** A machine that made no request for so long may be gone. */
const unseenMilliseconds = 30 * dayMilliseconds;
/** How long before its end something is listed. */
const soonMilliseconds = 14 * dayMilliseconds;

/** The person's open tasks in the folders, vaults, machines and members that they manage. */
export async function toDoView(workspace: Workspace): Promise<ToDoView> {
  const { client } = workspace;
  const people = await peopleView(workspace);
  const inOwnVaults = await inVaults(workspace);
  if (people.organization === null) return viewOf(inOwnVaults, []);
  client.secrets.expire();
  // First: the secrets and names are those of the folders that this has found.
  const folders = await client.folders.list();
  const [secrets, machines, { destinations }] = await Promise.all([
    client.secrets.list(),
    people.mayManage ? machineItems(client) : [],
    destinationsView(workspace),
  ]);
  const managed = folders.filter(({ permission, problem }) => permission === "manage" && problem === null);
  const suspended = new Set(people.members.filter(({ status }) => status === "suspended").map(({ id }) => id));
  const found = [...(await inFolders(client, managed, suspended)), ...inOwnVaults];
  return viewOf(found, [
    ...(people.mayManage ? people.members : []).flatMap(({ id, email, problem }) =>
      problem === null ? [] : [item(problem, email, { path: "/people", openId: id })],
    ),
    // A manager must seal the missing key.
    ...folders
      .filter(({ problem }) => problem !== null && problem !== "no_key")
      .map(({ id, name, problem }) =>
        problem === "not_accepted"
          ? item("offer", name, { path: "/folders", openId: id })
          : item("locked", name, { path: "/folders", openId: id, of: problem ?? "" }),
      ),
    ...secrets
      .filter(({ expires_at: until }) => until !== null && isSoon(until))
      .map(({ uid, title, folder, expired, expires_at: at }) =>
        item(expired ? "secret_expired" : "secret_expires", title, { path: "/folders", openId: uid, of: folder, at }),
      ),
    ...machines,
    ...destinations
      .filter(({ enabled, lastDelivery }) => enabled && lastDelivery !== null && lastDelivery.error !== null)
      .map(({ name, lastDelivery }) =>
        item("destination", name, { path: "/destinations", at: lastDelivery?.at ?? null }),
      ),
  ]);
}

interface Found {
  rotate: ToRotate[];
  items: ToDoItem[];
}

function viewOf(found: readonly Found[], others: readonly ToDoItem[]): ToDoView {
  return { rotate: found.flatMap(({ rotate }) => rotate), items: [...found.flatMap(({ items }) => items), ...others] };
}

/** Members and machines that lack a key, whose key has changed, or who have left and are still named. */
async function inFolders(
  client: PersonClient,
  managed: readonly { id: string; name: string }[],
  suspended: ReadonlySet<string>,
): Promise<Found[]> {
  const [confirmed, named] = await Promise.all([confirmedMembers(client), client.named()]);
  const keys = new Map(confirmed?.map((member) => [member.user_id, member]));
  return fewAtATime(managed, async ({ id, name: of }) => {
    const holders = await client.folders.holders(id);
    const present = new Set([...suspended, ...holders.map((holder) => holder.id)]);
    const history = named.find((each) => each.kind === "folder" && each.id === id)?.holders ?? [];
    const hasLeft = history.some((who) => !present.has(who.slice(who.indexOf(":") + 1)));
    const items = holders.flatMap(({ kind, id: holder, name, public_key: key, has_key: hasKey }) => {
      const member = keys.get(holder);
      const place = { path: "/folders", openId: id, of } as const;
      if (member !== undefined && member.public_key !== key) return [item("key_changed", member.email, place)];
      const isUnknown = kind === "user" && member === undefined;
      return isUnknown || hasKey === false ? [item("without_key", member?.email ?? name, place)] : [];
    });
    return { items, rotate: hasLeft ? [{ kind: "folder" as const, id, name: of }] : [] };
  });
}

async function inVaults({ client, vaults }: Workspace): Promise<Found[]> {
  const shared = vaults().filter(({ type }) => type === "shared");
  const offers = shared
    .filter(({ problem }) => problem !== null)
    .map(({ name, problem }) =>
      problem === "not_accepted"
        ? item("offer", name, { path: "/" })
        : item("locked", name, { path: "/", of: problem ?? "" }),
    );
  const managed = shared.filter(({ permission, problem }) => permission === "manage" && problem === null);
  const found = await fewAtATime(managed, async ({ id, name: of }): Promise<Found> => {
    const members = await client.vaults.members(id);
    const lacking = members.filter(({ problem, ended }) => problem !== null && !ended);
    return {
      items: lacking.map(({ email }) => item("without_key", email, { path: "/", of })),
      rotate: members.some(({ ended }) => ended) ? [{ kind: "vault", id, name: of }] : [],
    };
  });
  return [{ items: offers, rotate: [] }, ...found];
}

/** Machines that were not seen for long or end soon, and tokens that no machine has used. */
async function machineItems(client: PersonClient): Promise<ToDoItem[]> {
  const applications = await client.applications.list();
  const found = await fewAtATime(applications, async ({ id, name: of }) => {
    const [machines, tokens] = await Promise.all([client.machines.list(id), client.tokens.list(id)]);
    const place = { path: "/machines", openId: id, of } as const;
    const active = machines.filter(({ status }) => status === "active");
    return [
      ...active
        .filter(
          ({ last_used_at: used, created_at: made }) => Date.parse(used ?? made) < Date.now() - unseenMilliseconds,
        )
        .map(({ name, last_used_at: at }) => item("machine_unseen", name, { ...place, at })),
      ...active
        .filter(({ expires_at: until }) => until !== null && isSoon(until))
        .map(({ name, expires_at: at }) => item("machine_ends", name, { ...place, at })),
      ...tokens
        .filter(({ status }) => status === "unused")
        .map(({ name, expires_at: at }) => item("token_unused", name, { ...place, at })),
    ];
  });
  return found.flat();
}

/** The rate limit is that of all the person's devices. */
const atATime = 8;

async function fewAtATime<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += atATime)
    results.push(...(await Promise.all(items.slice(from, from + atATime).map(work))));
  return results;
}

function isSoon(moment: string): boolean {
  return Date.parse(moment) < Date.now() + soonMilliseconds;
}

function item(
  kind: ToDoItem["kind"],
  name: string,
  { path, openId = null, of = "", at = null }: Pick<ToDoItem, "path"> & Partial<ToDoItem>,
): ToDoItem {
  return { kind, name, of, at, path, openId };
}
