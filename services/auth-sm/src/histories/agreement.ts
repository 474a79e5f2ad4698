import type { Claims, Holder, Invitation } from "@coffer/history";

/**
 * The change that an entry must sign. A claim that is not named here must be absent, except that a manager may always drop
 * open invitations.
 */
export interface ExpectedChange {
  org?: string;
  name?: string;
  /** The version of the key; `check` comes with it. */
  ver?: number;
  /** Exactly these holders. */
  set?: readonly Holder[];
  /** In the place of `set`: any of these holders. */
  setAmong?: readonly Holder[];
  /** Which holders may be dropped. */
  mayDrop?: (who: string) => boolean;
  /** Whether a `cut` may come with the drop. */
  cut?: true;
  /** Exactly this one invitation. */
  invite?: Pick<Invitation, "tag" | "kind" | "perm" | "email">;
}

/** In what an entry differs from the change that it comes with; null when it agrees. */
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
  const unknown = set.find((holder) => !setAmong.some((one) => isSameHolder(one, holder)));
  if (unknown !== undefined) return `\`set\` names ${unknown.who} with a key, permission or e-mail that differs here`;
  const isComplete = exactly === undefined || exactly.every(({ who }) => set.some((holder) => holder.who === who));
  return isComplete ? null : "`set` does not name the holder that this request is about";
}

function disagreementOfDrop(drop: readonly string[], { mayDrop }: ExpectedChange): string | null {
  const kept = drop.find((one) => !one.startsWith("invite:") && mayDrop?.(one) !== true);
  return kept === undefined ? null : `\`drop\` names ${kept}, which this request does not end`;
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

/** Whether two holders are the same in every claim. */
export function isSameHolder(one: Holder, other: Holder): boolean {
  return one.who === other.who && one.key === other.key && one.perm === other.perm && one.email === other.email;
}
