import { setTimeout as sleep } from "node:timers/promises";
import type { Expectation, Send, Step, Together } from "./case-file.ts";
import { checkAnswer, checkOpening } from "./check-answer.ts";
import type { HttpRequest } from "./connection.ts";
import { CaseFailure } from "./failure.ts";
import { match } from "./match.ts";
import { requestOf } from "./request.ts";
import { runReceiverStep } from "./run-receiver-step.ts";
import { runSocketStep } from "./run-socket-step.ts";
import type { Run, Stage } from "./run.ts";
import { evaluate, lookUp, type Scope } from "./template.ts";

/**
 * Runs the steps of a case in order, and closes its connections. Throws a CaseFailure at the first
 * failed step.
 */
export async function runSteps(stage: Stage, scope: Scope, steps: readonly Step[]): Promise<void> {
  const run: Run = { ...stage, scope: { ...scope }, addresses: new Map(), sockets: new Map() };
  try {
    await runAll(run, steps);
  } finally {
    for (const { socket } of run.sockets.values()) socket.terminate();
  }
}

async function runAll(run: Run, steps: readonly Step[]): Promise<void> {
  for (const [index, step] of steps.entries()) {
    try {
      await runStep(run, step);
    } catch (error) {
      if (!(error instanceof CaseFailure)) throw error;
      throw new CaseFailure(`step ${index + 1}: ${error.message}`);
    }
  }
}

async function runStep(run: Run, step: Step): Promise<void> {
  if ("let" in step) Object.assign(run.scope, await evaluate(step.let, run.scope));
  else if ("pause" in step) await sleep(step.pause * 1000);
  else if ("quiet" in step) await run.connection.quiet();
  else if ("until" in step) await runUntil(run, step.until, step.within);
  else if ("together" in step) await runTogether(run, step);
  else if ("send" in step) for (let time = 0; time < step.times; time += 1) await runSend(run, step);
  else if ("received" in step || "untouched" in step || "answers" in step) await runReceiverStep(run, step);
  else await runSocketStep(run, step);
}

async function runSend(run: Run, step: Send): Promise<void> {
  const request = await requestOf(run, step);
  // A case about the limit expects 429; any other waits.
  const expectsLimit = [step.expect.status].flat().includes(429);
  const answer = expectsLimit ? await run.connection.send(request) : await run.connection.sendPatiently(request);
  const expected = (await evaluate(step.expect, run.scope)) as Expectation; // evaluation preserves the shape
  checkAnswer(answer, expected, request);
  run.scope["answer"] = answer.json;
  const about = { body: answer.json, header: Object.fromEntries(answer.headers) };
  for (const [name, path] of Object.entries(step.save)) run.scope[name] = lookUp(path, about);
  for (const opening of step.opens) await checkOpening(run, opening);
}

async function runUntil(run: Run, until: Send | readonly Step[], seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  // Slower each time: some seconds of quick requests would use up the limit of the address.
  for (let pause = 50; ; pause = Math.min(pause * 1.3, 500)) {
    try {
      await ("send" in until ? runSend(run, until) : runAll(run, until));
      return;
    } catch (error) {
      if (!(error instanceof CaseFailure) || performance.now() > deadline) throw error;
      await sleep(pause);
    }
  }
}

async function runTogether(run: Run, { together, times, expect }: Together): Promise<void> {
  const requests: HttpRequest[] = [];
  for (let time = 0; time < times; time += 1) {
    const request = await requestOf(run, together);
    requests.push(together.each_from_elsewhere ? { ...request, address: run.connection.newAddress() } : request);
  }
  const answers = await Promise.all(requests.map((request) => run.connection.sendPatiently(request)));
  const statuses: Record<string, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  match(statuses, { $all: [expect.statuses, { $keys: Object.keys(expect.statuses) }] }, "the statuses");
}
