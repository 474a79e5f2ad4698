import type { Operation } from "@coffer/openapi";
import { type Caller, type CallerName, forgedToken } from "./callers.ts";
import { type Facts, factsFor } from "./facts.ts";
import { makeProps, repairProps } from "./props.ts";

/** The targets of requests: an organization with people, a folder, a secret, an application, a machine. */
export interface Stage {
  /** Ids by kind: `folder`, `application`, `user`, … */
  readonly ids: Readonly<Record<string, string>>;
  /** Values for the fields of the operation for which the stage was set last. */
  readonly facts: Facts;
  caller(name: CallerName): Caller;
  /** Makes missing objects again, and those that this operation needs. */
  set(operation: Operation): Promise<void>;
}

/**
 * Sets up a stage. The installation must have open registration and no limits, and with `stripeSecret`
 * it sells the plan of pay.ts. Throws if it does not answer.
 */
export async function createStage(url: string, stripeSecret?: string): Promise<Stage> {
  let props = await makeProps(url, stripeSecret);
  let facts: Facts = {};
  const authorization = (name: CallerName): string | undefined => {
    if (name === "anonymous") return undefined;
    if (name === "machine") return `Bearer ${props.machineToken}`;
    if (name === "forger") return `Bearer ${forgedToken}`;
    return `Bearer ${{ person: props.owner, member: props.member, stranger: props.stranger }[name].token}`;
  };
  return {
    get ids() {
      return props.ids;
    },
    get facts() {
      return facts;
    },
    caller: (name) => ({ url, authorization: authorization(name) }),
    async set(operation) {
      try {
        await repairProps(url, props);
      } catch {
        // So much is missing that a new stage is quicker. A stopped service fails here again.
        props = await makeProps(url, stripeSecret);
      }
      facts = await factsFor(operation.id, url, props);
    },
  };
}
