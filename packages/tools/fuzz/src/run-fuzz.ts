import type { Description, Operation } from "@coffer/openapi";
import { problemsWith } from "./judge.ts";
import { createMalform, nothingWrong } from "./malform.ts";
import type { MemoryWatch } from "./memory.ts";
import { rightRequest } from "./right-request.ts";
import { shownRequest } from "./request.ts";
import { signEvent } from "./sign-event.ts";
import { createStage, type Stage } from "./stage.ts";
import { createWire, type Wire } from "./wire.ts";

export interface FuzzOptions {
  url: string;
  description: Description;
  seed: string;
  /** The number of requests for each operation. */
  count: number;
  /** The ids of the operations; empty for all. */
  only: readonly string[];
  /** The number of the first request, to repeat one. */
  first?: number;
  memory?: MemoryWatch;
  /** Signs events of Stripe. Without it the installation refuses all of them. */
  stripeSecret?: string | undefined;
  /** Called after each operation. */
  onDone?: (result: OperationResult) => void;
}

/** A fault, with its request. */
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
  /** The count of each status; 0 for no response. */
  statuses: Readonly<Record<number, number>>;
  /** The slowest response. */
  milliseconds: number;
  findings: readonly Finding[];
}

const connections = 12;
const patienceMilliseconds = 10_000;
const requestsBetweenRepairs = 250;

/**
 * Sends malformed requests to every operation of the description and checks the responses. Between them
 * the stage makes missing objects again, so that later requests have targets.
 * @throws Error if the installation does not answer valid requests
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

/** As `runFuzz` for one operation, over these connections. */
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
    // First the valid one, to show that the others have a target.
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
