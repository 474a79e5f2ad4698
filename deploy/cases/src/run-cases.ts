import type { Given } from "./case-file.ts";
import type { Connection } from "./connection.ts";
import { CaseFailure } from "./failure.ts";
import type { Organization } from "./organization.ts";
import { createOrganization } from "./organization.ts";
import type { CaseBook, NamedCase } from "./read-cases.ts";
import { runSteps } from "./run-case.ts";
import type { Stage } from "./run.ts";
import type { Scope } from "./template.ts";

export interface Result {
  name: string;
  outcome: "passed" | "failed" | "skipped";
  /** Why it failed or was not run. */
  reason?: string;
  milliseconds: number;
}

export interface RunOptions {
  connection: Connection;
  audience: string;
  /** A signing secret of the installation, for cases that speak as Stripe. */
  stripeSecret?: string | undefined;
  shop: CaseBook["shop"];
  cases: readonly NamedCase[];
  onResult: (result: Result) => void;
}

/** Cases at the same time, where each has a source address of its own. */
const sideBySide = 6;

/**
 * Runs cases, each in what every case finds and in what it is given besides. From one address they run one after the
 * other, because they share its limits.
 * Throws when the installation cannot be prepared: it does not answer, or nobody may sign up.
 */
export async function runCases({
  connection,
  audience,
  stripeSecret,
  shop,
  cases,
  onResult,
}: RunOptions): Promise<void> {
  const ours = await createOrganization(connection, "Cases");
  const elsewhere = await createOrganization(connection, "Cases elsewhere");
  const [member, traveller] = [await ours.addMember(), await ours.addMember()];
  const people = { owner: ours, member, traveller, neighbour: elsewhere };
  const scope: Scope = {
    base_url: connection.url,
    audience,
    org: { id: ours.orgId, owner: ours.owner },
    owner: { id: ours.owner.id },
    member: { id: member.id },
    traveller: { id: traveller.id },
    neighbour: { id: elsewhere.owner.id, org_id: elsewhere.orgId },
    ...(await ours.make(shop.ours, {})),
    ...(await elsewhere.make(shop.elsewhere, {})),
  };
  // Those that wait for long begin first, so that at the end nobody waits for them.
  const waiting = cases.toSorted((one, other) => waitOf(other) - waitOf(one));
  const work = async (): Promise<void> => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      const started = performance.now();
      const outcome = await runOne(each, { connection, audience, stripeSecret, ours, people, scope });
      onResult({ name: each.name, ...outcome, milliseconds: Math.round(performance.now() - started) });
    }
  };
  await Promise.all(Array.from({ length: connection.forwarded ? sideBySide : 1 }, work));
}

/** The seconds that the steps of a case wait for, whatever the installation does. */
function waitOf({ steps }: NamedCase): number {
  return steps.reduce((sum, step) => {
    if ("pause" in step) return sum + step.pause;
    if ("stays" in step) return sum + step.for;
    return "pinged" in step ? sum + step.within : sum;
  }, 0);
}

interface Shop {
  connection: Connection;
  audience: string;
  stripeSecret: string | undefined;
  ours: Organization;
  people: Stage["people"];
  scope: Scope;
}

async function runOne(
  { needs, given, steps }: NamedCase,
  { connection, audience, stripeSecret, ours, people, scope }: Shop,
): Promise<Pick<Result, "outcome" | "reason">> {
  if (needs === "forwarded" && !connection.forwarded) return { outcome: "skipped", reason: "needs --forwarded" };
  if (needs === "direct" && connection.forwarded)
    return { outcome: "skipped", reason: "needs a run without --forwarded" };
  if (needs === "stripe" && stripeSecret === undefined)
    return { outcome: "skipped", reason: "needs a signing secret in COFFER_STRIPE_WEBHOOK_SECRETS" };
  try {
    const own = isEmpty(given) ? {} : await ours.make(given, scope);
    await runSteps({ connection, people, audience, stripeSecret }, { ...scope, ...own }, steps);
    return { outcome: "passed" };
  } catch (error) {
    const known = error instanceof CaseFailure || error instanceof TypeError;
    const message = error instanceof Error ? error.message : String(error);
    return { outcome: "failed", reason: known ? message : `${message}${causeOf(error)}` };
  }
}

const isEmpty = (given: Given): boolean => Object.values(given).every((part) => Object.keys(part).length === 0);

const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
