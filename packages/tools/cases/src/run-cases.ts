import type { Given } from "./case-file.ts";
import type { Connection } from "./connection.ts";
import { CaseFailure } from "./failure.ts";
import { createOrganization, type Organization } from "./organization.ts";
import type { CaseBook, NamedCase } from "./read-cases.ts";
import type { Receiver } from "./receiver.ts";
import { runSteps } from "./run-case.ts";
import type { Stage } from "./run.ts";
import { schedule } from "./schedule.ts";
import { createSiemOrganization } from "./siem-organization.ts";
import type { Scope } from "./template.ts";

export interface Result {
  name: string;
  outcome: "passed" | "failed" | "skipped";
  /** The reason of a failure, or why it was not run. */
  reason?: string;
  milliseconds: number;
}

export interface RunOptions {
  connection: Connection;
  audience: string;
  /** A signing secret of the installation, for cases with Stripe events. */
  stripeSecret?: string | undefined;
  /** The runner's address for audit records, for cases about their delivery. */
  receiver?: Receiver | undefined;
  shop: CaseBook["shop"];
  cases: readonly NamedCase[];
  onResult: (result: Result) => void;
}

/**
 * Runs cases, each with the common objects and its own.
 * Throws if the installation cannot be prepared: it does not answer, or registration is closed.
 */
export async function runCases({
  connection,
  audience,
  stripeSecret,
  receiver,
  shop,
  cases,
  onResult,
}: RunOptions): Promise<void> {
  const ours = await createOrganization(connection, "Cases");
  const elsewhere = await createOrganization(connection, "Cases elsewhere");
  const [member, traveller] = [await ours.addMember(), await ours.addMember()];
  const audited = cases.some(needsSiem) ? await createSiemOrganization(connection, stripeSecret) : null;
  const people = { owner: ours, member, traveller, neighbour: elsewhere, ...(audited === null ? {} : { audited }) };
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
    ...(audited === null ? {} : await audited.make(shop.audited, {})),
    ...(receiver === undefined ? {} : { receiver: receiver.url }),
  };
  await schedule(cases, connection.forwarded, async (each) => {
    const started = performance.now();
    const outcome = await runOne(each, { connection, audience, stripeSecret, receiver, ours, people, scope });
    onResult({ name: each.name, ...outcome, milliseconds: Math.round(performance.now() - started) });
  });
}

interface Shop {
  connection: Connection;
  audience: string;
  stripeSecret: string | undefined;
  receiver: Receiver | undefined;
  ours: Organization;
  people: Stage["people"];
  scope: Scope;
}

async function runOne({ needs, given, steps }: NamedCase, shop: Shop): Promise<Pick<Result, "outcome" | "reason">> {
  const { connection, audience, stripeSecret, receiver, ours, people, scope } = shop;
  const lacking = missing(needs, shop);
  if (lacking !== undefined) return { outcome: "skipped", reason: lacking };
  try {
    const own = isEmpty(given) ? {} : await ours.make(given, scope);
    await runSteps({ connection, people, audience, stripeSecret, receiver }, { ...scope, ...own }, steps);
    return { outcome: "passed" };
  } catch (error) {
    const known = error instanceof CaseFailure || error instanceof TypeError;
    const message = error instanceof Error ? error.message : String(error);
    return { outcome: "failed", reason: known ? message : `${message}${causeOf(error)}` };
  }
}

/** A requirement of a case that this run lacks; undefined without one. */
function missing(needs: NamedCase["needs"], { connection, stripeSecret, receiver, people }: Shop): string | undefined {
  if (needs === "forwarded" && !connection.forwarded) return "needs --forwarded";
  if (needs === "direct" && connection.forwarded) return "needs a run without --forwarded";
  if (needs === "stripe" && stripeSecret === undefined)
    return "needs a signing secret in COFFER_STRIPE_WEBHOOK_SECRETS";
  if (needs === "receiver" && receiver === undefined) return "needs --receiver";
  if (needsSiem({ needs }) && people["audited"] === undefined)
    return "needs the plan enterprise: an installation without billing, or COFFER_STRIPE_WEBHOOK_SECRETS";
  return undefined;
}

const needsSiem = ({ needs }: Pick<NamedCase, "needs">): boolean => needs === "siem" || needs === "receiver";

const isEmpty = (given: Given): boolean => Object.values(given).every((part) => Object.keys(part).length === 0);

const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
