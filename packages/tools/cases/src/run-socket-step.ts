import type { Closed, Hear, Open, Say, SocketStep, Stays } from "./case-file.ts";
import { checkAnswer } from "./check-answer.ts";
import { CaseFailure, shown } from "./failure.ts";
import { holds, match } from "./match.ts";
import { addressOf, type OpenSocket, type Run, tokenOf } from "./run.ts";
import { evaluate, lookUp } from "./template.ts";

const path = "/api/sync/ws";
/** The limit for the answer to our close frame. */
const closeSeconds = 10;

/** Runs a step about a WebSocket. Throws a CaseFailure if it fails. */
export async function runSocketStep(run: Run, step: SocketStep): Promise<void> {
  if ("open" in step) await runOpen(run, step);
  else if ("say" in step) await runSay(run, step);
  else if ("hear" in step) await runHear(run, step);
  else if ("stays" in step) await runStays(run, step);
  else if ("closed" in step) await runClosed(run, step);
  else if ("pinged" in step) await runPinged(run, step.pinged, step.within);
  else await runClose(run, step.close);
}

async function runOpen(run: Run, step: Open): Promise<void> {
  const { connection, sockets } = run;
  sockets.get(step.open)?.socket.terminate();
  sockets.delete(step.open);
  const token = await tokenOf(run, step);
  const inQuery = token === undefined || step.protocols !== undefined ? "" : "?token=${access_token}";
  const { query, protocols, headers, expect } = (await evaluate(
    { query: step.query ?? inQuery, protocols: step.protocols ?? [], headers: step.headers, expect: step.expect },
    { ...run.scope, access_token: token },
  )) as { query: string; protocols: string[] } & Pick<Open, "headers" | "expect">; // evaluation preserves the shape
  const request = { path: path + query, protocols, headers, pongs: step.pongs, address: addressOf(run, step.from) };
  const { socket, ...answer } = await connection.openPatiently(request);
  if (socket !== undefined) sockets.set(step.open, { socket, heard: 0, pinged: 0 });
  checkAnswer(answer, expect, { method: "The upgrade of", path });
  if (expect.protocol !== undefined) match(socket?.protocol, expect.protocol, "the protocol that was selected");
}

async function runSay(run: Run, { say, message, binary }: Say): Promise<void> {
  const { socket } = socketOf(run, say);
  const value = await evaluate(message, run.scope);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  socket.say(binary ? Buffer.from(text) : text);
}

async function runHear(run: Run, { hear, which, message, within, save }: Hear): Promise<void> {
  const open = socketOf(run, hear);
  const { socket } = open;
  const wanted = await evaluate(which, run.scope);
  const came = await socket.waitFor(within, () => firstLike(open, wanted) ?? socket.end);
  if (came === undefined || !("message" in came))
    throw new CaseFailure(`${hear} heard nothing${like(wanted)} within ${within} s${soFar(open)}`);
  open.heard = came.index + 1;
  match(came.message, await evaluate(message, run.scope), `what ${hear} heard`);
  for (const [name, part] of Object.entries(save)) run.scope[name] = lookUp(part, { message: came.message });
}

async function runStays(run: Run, { stays, for: seconds }: Stays): Promise<void> {
  const { socket } = socketOf(run, stays);
  const end = await socket.waitFor(seconds, () => socket.end);
  if (end !== undefined) throw new CaseFailure(`${stays} was ${ended(end)}, expected to stay`);
}

async function runClosed(run: Run, { closed, code, within, without }: Closed): Promise<void> {
  const open = socketOf(run, closed);
  const end = await open.socket.waitFor(within, () => open.socket.end);
  if (end === undefined) throw new CaseFailure(`${closed} was not closed within ${within} s${soFar(open)}`);
  if (end.code !== code) throw new CaseFailure(`${closed} was ${ended(end)}, expected ${code}${soFar(open)}`);
  if (without === undefined) return;
  const came = firstLike(open, await evaluate(without, run.scope));
  if (came !== undefined) throw new CaseFailure(`before it was closed ${closed} heard ${shown(came.message)}`);
}

async function runPinged(run: Run, pinged: string, within: number): Promise<void> {
  const open = socketOf(run, pinged);
  const { socket } = open;
  const came = await socket.waitFor(within, () => (socket.pings > open.pinged ? "ping" : socket.end));
  if (came !== "ping")
    throw new CaseFailure(`${pinged} was ${came === undefined ? `not pinged within ${within} s` : ended(came)}`);
  open.pinged = socket.pings;
}

async function runClose(run: Run, close: string): Promise<void> {
  const { socket } = socketOf(run, close);
  socket.close();
  const end = await socket.waitFor(closeSeconds, () => socket.end);
  if (end?.code !== 1000) throw new CaseFailure(`closing ${close} was not answered`);
}

/** The first later message that matches. */
function firstLike({ socket, heard }: OpenSocket, wanted: unknown): { index: number; message: unknown } | undefined {
  const index = socket.messages.findIndex((each, at) => at >= heard && (wanted === undefined || holds(each, wanted)));
  return index === -1 ? undefined : { index, message: socket.messages[index] };
}

function socketOf({ sockets }: Run, name: string): OpenSocket {
  const open = sockets.get(name);
  if (open === undefined) throw new TypeError(`the case has not opened ${name}`);
  return open;
}

const like = (wanted: unknown): string => (wanted === undefined ? "" : ` like ${shown(wanted)}`);

const ended = ({ code, reason }: { code: number; reason: string }): string =>
  `closed with ${code}${reason === "" ? "" : ` (${reason})`}`;

function soFar({ socket, heard }: OpenSocket): string {
  const unheard = socket.messages.slice(heard);
  const end = socket.end === undefined ? "" : `, was ${ended(socket.end)}`;
  return `${unheard.length === 0 ? "" : `, but ${shown(unheard)}`}${end}`;
}
