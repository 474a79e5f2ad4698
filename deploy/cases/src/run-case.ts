import { setTimeout as sleep } from "node:timers/promises";
import type { Expectation, JwtGiven, Opening, Send, Step, Together } from "./case-file.ts";
import type { Connection, HttpAnswer, HttpRequest } from "./connection.ts";
import { CaseFailure, shown } from "./failure.ts";
import { rightToken, signToken } from "./jwt.ts";
import type { Machine } from "./machine.ts";
import { match } from "./match.ts";
import type { Organization, Token } from "./organization.ts";
import type { FolderKey } from "./seal.ts";
import { openSealed } from "./seal.ts";
import type { Scope } from "./template.ts";
import { evaluate, lookUp } from "./template.ts";

/** What a case runs in. */
export interface Stage {
  connection: Connection;
  /** People whose access token a step may use, by name: `owner` is the one whose organization it is. */
  people: Readonly<Record<string, Pick<Organization, "accessToken">>>;
  /** The base address that machines name in their tokens. */
  audience: string;
}

/** The case's own view: what it was given and has saved, and from where it speaks. */
interface Run extends Stage {
  scope: Scope;
  addresses: Map<string, string | undefined>;
}

/** Runs the steps of a case, one after the other. Throws a CaseFailure at the first that does not hold. */
export async function runSteps(stage: Stage, scope: Scope, steps: readonly Step[]): Promise<void> {
  const run: Run = { ...stage, scope: { ...scope }, addresses: new Map() };
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
  else for (let time = 0; time < step.times; time += 1) await runSend(run, step);
}

async function runSend(run: Run, step: Send): Promise<void> {
  const request = await requestOf(run, step);
  // A case about the limit meets it; any other waits.
  const expectsLimit = [step.expect.status].flat().includes(429);
  const answer = expectsLimit ? await run.connection.send(request) : await run.connection.sendPatiently(request);
  const expected = (await evaluate(step.expect, run.scope)) as Expectation; // evaluation keeps the shape
  check(answer, expected, request);
  run.scope["answer"] = answer.json;
  const about = { body: answer.json, header: Object.fromEntries(answer.headers) };
  for (const [name, path] of Object.entries(step.save)) run.scope[name] = lookUp(path, about);
  for (const opening of step.opens) await checkOpening(run, opening);
}

async function runUntil(run: Run, step: Send, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    try {
      await runSend(run, step);
      return;
    } catch (error) {
      if (!(error instanceof CaseFailure) || performance.now() > deadline) throw error;
      await sleep(50);
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

/** The parts of a step that make its request. */
type RequestGiven = Omit<Send, "times" | "expect" | "save" | "opens">;

async function requestOf(run: Run, step: RequestGiven): Promise<HttpRequest> {
  const { scope } = run;
  const [method = "", ...path] = String(await evaluate(step.send, scope)).split(" ");
  const headers = (await evaluate(step.headers, scope)) as Record<string, string>; // evaluation keeps the shape
  const authorization = await authorizationOf(run, step);
  const body =
    step.text === undefined ? jsonOf(await evaluate(step.body, scope)) : String(await evaluate(step.text, scope));
  return {
    method,
    path: path.join(" "),
    headers: {
      ...(body === undefined ? {} : { "content-type": step.type ?? "application/json" }),
      ...(authorization === undefined ? {} : { authorization }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    address: addressOf(run, step.from ?? ""),
  };
}

const jsonOf = (body: unknown): string | undefined => (body === undefined ? undefined : JSON.stringify(body));

async function authorizationOf(run: Run, step: RequestGiven): Promise<string | undefined> {
  if (step.authorization !== undefined) return String(await evaluate(step.authorization, run.scope));
  if (step.as === undefined) return undefined;
  const person = run.people[step.as];
  if (person !== undefined) return `Bearer ${await person.accessToken()}`;
  const machine = lookUp(step.as, run.scope) as Machine; // the names of machines are those of `machines`
  const jwt = (await evaluate(step.jwt ?? rightToken, run.scope)) as JwtGiven; // evaluation keeps the shape
  return `Bearer ${signToken(machine, run.audience, jwt)}`;
}

function addressOf({ addresses, connection }: Run, name: string): string | undefined {
  if (!addresses.has(name)) addresses.set(name, connection.newAddress());
  return addresses.get(name);
}

function check(answer: HttpAnswer, { status, headers, body }: Expectation, { method, path }: HttpRequest): void {
  if (![status].flat().includes(answer.status)) {
    throw new CaseFailure(
      `${method} ${path} was answered ${answer.status}, expected ${shown(status)}: ${answer.text.slice(0, 200)}`,
    );
  }
  for (const [name, wanted] of Object.entries(headers))
    match(answer.headers.get(name) ?? undefined, wanted, `the header ${name}`);
  if (body === null) match(answer.text, "", "the body");
  else if (body !== undefined) match(answer.json, body, "the body");
}

async function checkOpening(run: Run, opening: Opening): Promise<void> {
  const { as, gives, uid, field, dek } = (await evaluate({ ...opening, sealed: "" }, run.scope)) as Opening; // the shape stays
  const folder = lookUp(opening.folder, run.scope) as FolderKey; // the names of folders are those of `folders`
  const found = await evaluate(opening.sealed, run.scope);
  const sealed = as === "folder_key" ? lookUp(folder.id, found) : found;
  const wrapKey = opening.token === undefined ? undefined : (lookUp(opening.token, run.scope) as Token).wrapKey;
  let opened: unknown;
  try {
    opened = await openSealed({ sealed: String(sealed), as, folder, uid, field, dek, wrapKey });
  } catch (error) {
    throw new CaseFailure(`what was answered as ${as} does not open: ${(error as Error).message}`);
  }
  if (gives !== undefined) match(opened, gives, `what the ${as} holds`);
}
