import type { Operation } from "@coffer/openapi";
import { createRandom, type Random } from "@coffer/testkit";
import { jsonText } from "./json-text.ts";
import { bodyMutations } from "./mutate-body.ts";
import { headerMutations } from "./mutate-headers.ts";
import { type JsonMutation, jsonMutations, textMutation } from "./mutate-json.ts";
import { pathMutations, queryMutations, segmentMutations } from "./mutate-target.ts";
import type { Mutation } from "./mutation.ts";
import { type Caller, type CallerName, callerNames } from "./callers.ts";
import type { RawRequest } from "./request.ts";

/** A valid request of an operation, before its malformation. */
export interface RightRequest {
  target: string;
  headers: [string, string][];
  /** The JSON body; undefined without one. */
  body: unknown;
}

/** The malformation of one request: enough to repeat it. */
export interface Malformation {
  readonly name: string;
  readonly caller: CallerName;
  apply(right: RightRequest, caller: Caller): RawRequest;
}

/** One malformation of a request. */
type Step = Partial<Mutation> & { readonly name: string; body?: JsonMutation };

/** Makes the malformations of an operation, determined by seed and number. */
export function createMalform(operation: Operation, seed: string): (index: number) => Malformation {
  const example = operation.body?.examples[0];
  const bodies = example === undefined ? [] : jsonMutations(example).map((body): Step => ({ name: body.name, body }));
  const others = otherSteps(operation);
  const single = createRandom(`${seed}/${operation.id}`).shuffled([...bodies, ...others]);

  const step = (random: Random): Step => {
    if (bodies.length === 0 || random.chance(1 / 3)) return random.pick(others);
    if (random.chance(0.5)) return random.pick(bodies);
    const body = textMutation(random, example);
    return { name: body.name, body };
  };
  return (index) => {
    const random = createRandom(`${seed}/${operation.id}/${index}`);
    // Every other request has one malformation, in turn; the rest up to three.
    const steps: readonly Step[] =
      index % 2 === 0
        ? single.slice((index / 2) % single.length, ((index / 2) % single.length) + 1)
        : Array.from({ length: 1 + random.below(3) }, () => step(random));
    return {
      name: steps.map(({ name }) => name).join("; "),
      caller: chooseCaller(operation, random),
      apply: (right, caller) => build(operation, steps, random, right, caller),
    };
  };
}

function otherSteps(operation: Operation): Step[] {
  return [
    ...(operation.body === undefined ? bodyMutations.slice(0, 12) : bodyMutations),
    ...pathMutations,
    ...(operation.path.includes("{") ? segmentMutations : []),
    ...queryMutations(operation),
    ...headerMutations,
  ];
}

/** The valid request itself, from the intended caller. */
export function nothingWrong(operation: Operation): Malformation {
  const apply: Malformation["apply"] = (right, caller) => build(operation, [], createRandom(""), right, caller);
  return { name: "nothing", caller: rightCaller(operation), apply };
}

/** Mostly the intended caller, so that the request is authorized. */
function chooseCaller(operation: Operation, random: Random): CallerName {
  return random.below(10) < 7 ? rightCaller(operation) : random.pick(callerNames);
}

function rightCaller({ security }: Operation): CallerName {
  return security.includes("person") ? "person" : security.includes("machine") ? "machine" : "anonymous";
}

function build(
  operation: Operation,
  steps: readonly Step[],
  random: Random,
  right: RightRequest,
  { url, authorization }: Caller,
): RawRequest {
  let { body } = right;
  for (const step of steps) body = step.body === undefined ? body : step.body.apply(body);
  const request: RawRequest = {
    method: operation.method,
    target: right.target,
    headers: [
      ["Host", new URL(url).host],
      ...(authorization === undefined ? [] : [["Authorization", authorization] satisfies [string, string]]),
      ...(body === undefined ? [] : [["Content-Type", "application/json"] satisfies [string, string]]),
      ...right.headers,
    ],
    body: body === undefined ? undefined : Buffer.from(jsonText(body)),
  };
  for (const { apply } of steps) apply?.(request, operation, random);
  return request;
}
