import type { Role } from "../support/people.ts";

/** What a vault is to somebody. */
export const vaultKinds = [
  "own",
  "own, without an organization",
  "the shared one",
  "not shared with them",
  "somebody's personal one",
  "of another organization",
] as const;
export type VaultKind = (typeof vaultKinds)[number];

/** In what state it is in the end; what is deleted was deleted while everybody still saw it who ever did. */
export const vaultStates = ["not safe for travel", "safe for travel", "deleted"] as const;
export type VaultState = (typeof vaultStates)[number];

/**
 * `shown`: with its records, and its person is named as one who sees it. `gone`: the person saw it and is told that its
 * records are gone, and nothing else. `never`: not a word. `absent`: there is none.
 */
export type Sight = "shown" | "gone" | "never" | "absent";

/** How somebody comes to be what the name says, from a member who does what members do. */
export interface Story {
  role: Exclude<Role, "auditor">;
  organization: "this" | "another" | "none";
  permission: "read" | "write" | "manage" | null;
  becomes?: "an auditor" | "suspended" | "removed" | "a traveller" | "without the vault";
  sees: Record<VaultKind, readonly [unsafe: Sight, safe: Sight, deleted: Sight]>;
}

const seen = ["shown", "shown", "gone"] as const;
const lost = ["gone", "gone", "gone"] as const;
const travelling = ["gone", "shown", "gone"] as const;
const never = ["never", "never", "never"] as const;
const absent = ["absent", "absent", "absent"] as const;

const others = {
  "not shared with them": never,
  "somebody's personal one": never,
  "of another organization": never,
} as const;
const holder = { own: seen, "own, without an organization": seen, "the shared one": seen, ...others } as const;
const without = { ...holder, "the shared one": never } as const;
/** What belongs to no organization stays with whoever is none of its people any more. */
const outside = { ...holder, own: lost, "the shared one": lost } as const;
const member = { role: "member", organization: "this", permission: null, sees: without } as const;
const manager = { role: "owner", organization: "this", permission: "manage" } as const;

/** By the names of the cast: what sync shows them of which vault. */
export const stories: Readonly<Record<string, Story>> = {
  "its creator": { ...member, permission: "manage", sees: holder },
  ...Object.fromEntries(
    (["owner", "admin", "member"] as const).flatMap((role) => [
      ...(["read", "write", "manage"] as const).map((permission): [string, Story] => [
        `${role}, ${permission}`,
        { role, organization: "this", permission, sees: holder },
      ]),
      [`${role} without the vault`, { ...member, role }] as [string, Story],
    ]),
  ),
  "an auditor without the vault": { ...member, becomes: "an auditor", sees: { ...outside, "the shared one": never } },
  "an auditor who managed it": { ...manager, role: "member", becomes: "an auditor", sees: outside },
  "a suspended manager": { ...manager, becomes: "suspended", sees: outside },
  "suspended, without the vault": {
    ...member,
    role: "admin",
    becomes: "suspended",
    sees: { ...outside, "the shared one": never },
  },
  "a removed manager": { ...manager, becomes: "removed", sees: outside },
  "a manager who travels": {
    ...manager,
    becomes: "a traveller",
    sees: { ...others, own: travelling, "own, without an organization": travelling, "the shared one": travelling },
  },
  "who had it before": {
    ...manager,
    role: "member",
    becomes: "without the vault",
    sees: { ...holder, "the shared one": lost },
  },
  "an owner of another organization": { ...member, role: "owner", organization: "another" },
  "somebody without an organization": { ...member, organization: "none", sees: { ...without, own: absent } },
};
