import type { Claims, Holder, Invitation } from "@coffer/history";

/**
 * A holder as an entry must set it. Without `key` any key is accepted: the service does not know
 * it.
 */
export type ExpectedHolder = Omit<Holder, "key"> & { key?: string };

/**
 * The change that an entry must sign. Other claims must be absent, except that a manager may always
 * drop open invitations.
 */
export interface ExpectedChange {
  org?: string;
  name?: string;
  /** The version of the key; `check` comes with it. */
  ver?: number;
  /** Exactly these holders. */
  set?: readonly ExpectedHolder[];
  /** Instead of `set`: any of these holders. */
  setAmong?: readonly ExpectedHolder[];
  /** Which holders may be dropped. */
  mayDrop?: (who: string) => boolean;
  /** Whether a `cut` may come with the drop. */
  cut?: true;
  /** Exactly this one invitation. */
  invite?: Pick<Invitation, "tag" | "kind" | "perm" | "email">;
}

/** How an entry differs from the change it comes with; null if it agrees. */
export function disagreement(claims: Claims, expected: ExpectedChange): string | null {
  if (claims.org !== expected.org) return "`org` is not the organization";
  if (claims.name !== expected.name) return "`name` is not the name in this request, or the present one";
  if (claims.ver !== expected.ver) return "`ver` is not the version of the key that this request is about";
  if (claims.cut !== undefined && expected.cut === undefined) return "`cut` does not belong here";
  return (
    disagreementOfSet(claims.set ?? [], expected) ??
    disagreementOfDrop(claims.drop ?? [], expected) ??
    disagreementOfInvite(claims.invite ?? [], expected)
  );
}

function disagreementOfSet(set: readonly Holder[], { set: exactly, setAmong = exactly ?? [] }: ExpectedChange) {
  const unknown = set.find((holder) => !setAmong.some((one) => fits(one, holder)));
  if (unknown !== undefined) return `\`set\` names ${unknown.who} with a key, permission or e-mail that differs here`;
  const isComplete = exactly === undefined || exactly.every(({ who }) => set.some((holder) => holder.who === who));
  return isComplete ? null : "`set` does not name the holder that this request is about";
}

function disagreementOfDrop(drop: readonly string[], { mayDrop }: ExpectedChange): string | null {
  const present = drop.find((one) => !one.startsWith("invite:") && mayDrop?.(one) !== true);
  return present === undefined ? null : `\`drop\` names ${present}, which this request does not end`;
}

function disagreementOfInvite(invite: readonly Invitation[], { invite: expected }: ExpectedChange): string | null {
  const [invitation, another] = invite;
  if (expected === undefined) return invitation === undefined ? null : "`invite` does not belong here";
  const { tag, kind, perm, email } = expected;
  const isRight =
    invitation !== undefined &&
    another === undefined &&
    invitation.tag === tag &&
    invitation.kind === kind &&
    invitation.perm === perm &&
    invitation.email === email;
  return isRight ? null : "`invite` must be exactly the invitation that this request makes";
}

/** Whether a holder is as expected in every claim. */
export function fits(expected: ExpectedHolder, { who, key, perm, email }: Holder): boolean {
  const isKey = expected.key === undefined || expected.key === key;
  return expected.who === who && isKey && expected.perm === perm && expected.email === email;
}
