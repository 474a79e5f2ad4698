import type { Role } from "../support/people.ts";

/** The relation of a vault to a person. */
export const vaultKinds = [
  "own",
  "own, without an organization",
  "the shared one",
  "not shared with them",
  "a personal vault of another person",
  "of another organization",
] as const;
export type VaultKind = (typeof vaultKinds)[number];

/** The final state of a vault. A vault is deleted before any person loses it. */
export const vaultStates = ["not safe for travel", "safe for travel", "deleted"] as const;
export type VaultState = (typeof vaultStates)[number];

/**
 * `shown`: with its records, and the person is a viewer. `gone`: the person saw it and receives
 * deletions only. `never`: the person receives nothing. `absent`: there is no such vault.
 */
export type Outcome = "shown" | "gone" | "never" | "absent";

/** How a person of the cast gets their state. All of them begin as members. */
export interface Story {
  role: Exclude<Role, "auditor">;
  organization: "this" | "another" | "none";
  permission: "read" | "write" | "manage" | null;
  becomes?: "an auditor" | "suspended" | "removed" | "a traveller" | "without the vault";
  sees: Record<VaultKind, readonly [unsafe: Outcome, safe: Outcome, deleted: Outcome]>;
}

const seen = ["shown", "shown", "gone"] as const;
const lost = ["gone", "gone", "gone"] as const;
const travelling = ["gone", "shown", "gone"] as const;
const never = ["never", "never", "never"] as const;
const absent = ["absent", "absent", "absent"] as const;

const others = {
  "not shared with them": never,
  "a personal vault of another person": never,
  "of another organization": never,
} as const;
const holder = { own: seen, "own, without an organization": seen, "the shared one": seen, ...others } as const;
const without = { ...holder, "the shared one": never } as const;
/** Vaults without an organization stay with a person who leaves the organization. */
const outside = { ...holder, own: lost, "the shared one": lost } as const;
const member = { role: "member", organization: "this", permission: null, sees: without } as const;
const manager = { role: "owner", organization: "this", permission: "manage" } as const;

/** By the names of the cast: what sync shows them of each vault. */
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
  "a removed member of the vault": {
    ...manager,
    role: "member",
    becomes: "without the vault",
    sees: { ...holder, "the shared one": lost },
  },
  "an owner of another organization": { ...member, role: "owner", organization: "another" },
  "a person without an organization": { ...member, organization: "none", sees: { ...without, own: absent } },
};
