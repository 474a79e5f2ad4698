import type { Description, Operation } from "@coffer/openapi";
import { problemsWith } from "./judge.ts";
import { createMalform, nothingWrong } from "./malform.ts";
import type { MemoryWatch } from "./memory.ts";
import { rightRequest } from "./right-request.ts";
import { shownRequest } from "./request.ts";
import { signEvent } from "./sign-event.ts";
import type { Stage } from "./stage.ts";
import { createStage } from "./stage.ts";
import type { Wire } from "./wire.ts";
import { createWire } from "./wire.ts";

export interface FuzzOptions {
  url: string;
  description: Description;
  seed: string;
  /** How many requests each operation gets. */
  count: number;
  /** The ids of the operations; all of them when empty. */
  only: readonly string[];
  /** The number of the first request, to make one again. */
  first?: number;
  memory?: MemoryWatch;
  /** Signs events of Stripe. Without it the installation refuses all of them. */
  stripeSecret?: string | undefined;
  /** Called when an operation is done. */
  onDone?: (result: OperationResult) => void;
}

/** Something that must not be, with the request that brought it out. */
export interface Finding {
  operation: string;
  index: number;
  caller: string;
  malformation: string;
  problems: readonly string[];
  request: string;
}

export interface OperationResult {
  operation: string;
  requests: number;
  /** How often which status came; 0 for none. */
  statuses: Readonly<Record<number, number>>;
  /** The slowest answer. */
  milliseconds: number;
  findings: readonly Finding[];
}

const connections = 12;
const patienceMilliseconds = 10_000;
const requestsBetweenRepairs = 250;

/**
 * Sends malformed requests to every operation of the description and judges the answers. In between it asks the stage to
 * make anew what was destroyed, so that requests go on meeting something.
 * @throws Error when the installation does not answer right requests
 */
export async function runFuzz(options: FuzzOptions): Promise<OperationResult[]> {
  const { url, description, only } = options;
  const operations = description.operations.filter(({ id }) => only.length === 0 || only.includes(id));
  const stage = await createStage(url, options.stripeSecret);
  const wires = Array.from({ length: connections }, () => createWire(url, patienceMilliseconds));
  try {
    const results: OperationResult[] = [];
    for (const operation of operations) {
      const result = await fuzzOperation(operation, stage, wires, options);
      results.push(result);
      options.onDone?.(result);
    }
    return results;
  } finally {
    for (const wire of wires) wire.close();
  }
}

/** The same for one operation, over these connections. */
export async function fuzzOperation(
  operation: Operation,
  stage: Stage,
  wires: readonly Wire[],
  { description, seed, count, first = 0, memory, stripeSecret }: FuzzOptions,
): Promise<OperationResult> {
  const malform = createMalform(operation, seed);
  const findings: Finding[] = [];
  const statuses: Record<number, number> = {};
  let slowest = 0;

  const one = async (wire: Wire, index: number, malformation = malform(index)): Promise<void> => {
    const request = malformation.apply(rightRequest(operation, stage), stage.caller(malformation.caller));
    if (operation.id === "receiveStripeEvent" && stripeSecret !== undefined) signEvent(request, stripeSecret);
    const began = performance.now();
    let problems: string[];
    try {
      const answer = await wire.send(request);
      statuses[answer?.status ?? 0] = (statuses[answer?.status ?? 0] ?? 0) + 1;
      problems = problemsWith(description, request, answer);
    } catch (error) {
      problems = [(error as Error).message];
    }
    slowest = Math.max(slowest, performance.now() - began);
    if (problems.length === 0) return;
    const { name, caller } = malformation;
    findings.push({
      operation: operation.id,
      index,
      caller,
      malformation: name,
      problems,
      request: shownRequest(request),
    });
  };

  let next = first;
  const end = first + count;
  while (next < end) {
    if (next === first || operation.method !== "GET") await stage.set(operation);
    await memory?.sample();
    // First the right one, which shows that the others are about something.
    if (next === first && count > 1) for (const wire of wires.slice(0, 1)) await one(wire, -1, nothingWrong(operation));
    const stop = Math.min(end, next + requestsBetweenRepairs);
    await Promise.all(
      wires.map(async (wire) => {
        while (next < stop) await one(wire, next++);
      }),
    );
  }
  return { operation: operation.id, requests: count, statuses, milliseconds: slowest, findings };
}
