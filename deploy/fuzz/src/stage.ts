import type { Operation } from "@coffer/openapi";
import type { Caller, CallerName } from "./callers.ts";
import { forgedToken } from "./callers.ts";
import type { Facts } from "./facts.ts";
import { factsFor } from "./facts.ts";
import { makeProps, repairProps } from "./props.ts";

/** What requests can be about: an organization with its people, a folder, a secret, an application, a machine. */
export interface Stage {
  /** Ids by what they name: `folder`, `application`, `user`, … */
  readonly ids: Readonly<Record<string, string>>;
  /** Values for the fields of the operation for which the stage was set last. */
  readonly facts: Facts;
  caller(name: CallerName): Caller;
  /** Makes anew what requests have destroyed since, and what this operation asks for besides. */
  set(operation: Operation): Promise<void>;
}

/**
 * Sets up a stage. The installation must let people sign up and not limit them, and with `stripeSecret` it sells the plan of
 * pay.ts. Throws when it does not answer.
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
        // So much is gone that a new stage is quicker than finding out what. A service that is gone fails here again.
        props = await makeProps(url, stripeSecret);
      }
      facts = await factsFor(operation.id, url, props);
    },
  };
}
