import { randomUUID } from "node:crypto";
import type { PlanName } from "@coffer/contract";
import type { AuditDraft, AuditRecord } from "@coffer/events";
import type { TestDatabase, TestScope } from "@coffer/testkit";
import { createClock } from "@coffer/testkit";
import type { Seams } from "../../src/service.ts";
import { draftsOf } from "./draft.ts";
import type { Forwarder, Stores } from "../forwarder.ts";
import { startForwarder, startStores } from "../forwarder.ts";
import type { Person } from "../people.ts";
import { webhooksAt } from "./webhooks.ts";

/** Loopback is allowed: receivers of tests stand there, without TLS. */
export const allowLoopback = { COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8" };

export interface Company {
  orgId: string;
  owner: Person;
  /** Appends that many records of a machine's reads; returns their ids. */
  record(count: number, given?: Partial<AuditDraft>): Promise<string[]>;
}

/** A service whose deliveries happen when the test says so, at the time that it says. */
export async function startSiem<Postgres extends TestDatabase = TestDatabase>(
  t: TestScope,
  { stores, seams = {} }: { stores?: Stores<Postgres>; seams?: Seams } = {},
) {
  const clock = createClock();
  clock.stop();
  const plans = new Map<string, PlanName>();
  const all: Stores = stores ?? (await startStores(t));
  const service: Forwarder = await startForwarder(t, all, undefined, {
    env: allowLoopback,
    seams: {
      now: clock.now,
      random: () => 0,
      lookMilliseconds: null,
      plans: { of: (ids) => Promise.resolve(new Map(ids.map((id) => [id, plans.get(id) ?? "enterprise"]))) },
      ...seams,
    },
  });
  const webhooks = webhooksAt(service.url);
  const owners: Person[] = [];
  /** Lets time pass, during which the owners renew their tokens. */
  const pass = async (seconds: number): Promise<void> => {
    clock.advance(seconds * 1_000);
    for (const owner of owners) owner.token = await service.people.sign(owner, 900);
  };
  const company = async (): Promise<Company> => {
    const orgId = randomUUID();
    const owner = await service.people.add([{ orgId, role: "owner" }]);
    owners.push(owner);
    const record: Company["record"] = async (count, given) => {
      const drafts = draftsOf(orgId, count, { time: clock.now().toISOString(), ...given });
      for (let at = 0; at < drafts.length; at += 20) await service.append(drafts.slice(at, at + 20));
      return drafts.map(({ id }) => id);
    };
    return { orgId, owner, record };
  };
  return { ...service, stores: all, clock, pass, plans, webhooks, company };
}

/** The ids of events that a receiver has taken. */
export function idsOf(taken: readonly unknown[]): string[] {
  return taken.map((event) => (event as AuditRecord).id);
}
