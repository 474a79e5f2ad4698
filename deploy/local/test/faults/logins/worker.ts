import { startLogin } from "@coffer/crypto/opaque";
import { finishLogin } from "../../../../../services/auth-sm/test/support/opaque.ts";
import type { Question } from "../caller.ts";
import { isRepeated, newDeed } from "../ledger.ts";
import { acknowledge, complain, goesOn, hastily, insist, send, type Worker } from "../worker.ts";
import { device, type Member, type Session, type Tokens, tokensOf } from "./member.ts";

export interface LoginsWorker extends Worker {
  member: Member;
}

/**
 * For how long a lost refresh is repeated. The token before the present one is valid for 60 s, in which its
 * last repetition and a second tab's must be answered.
 */
const repeatMilliseconds = 15_000;

/** Logs in, refreshes several times, and mostly logs out again, until it is stopped. */
export async function logIn(worker: LoginsWorker): Promise<void> {
  const { random } = worker;
  while (goesOn(worker)) {
    const session = await openSession(worker);
    if (session === undefined) continue;
    await requireOpen(worker, session);
    for (let left = random.below(4); left > 0 && goesOn(worker) && !session.isRefreshInDoubt; left -= 1)
      await refresh(worker, session);
    if (random.below(3) > 0 && goesOn(worker)) await logOut(worker, session);
  }
}

/** A lost response to either step of a login begins a new one. */
async function openSession(worker: LoginsWorker): Promise<Session | undefined> {
  const { ledger, member } = worker;
  const { email, password } = member;
  const { state, startLoginRequest } = await startLogin(password);
  const begin = { email, start_login_request: startLoginRequest };
  const started = await send(worker, { method: "POST", path: "/api/auth/login/start", body: begin });
  if (started.status !== 200) {
    complain(worker, "the start of a login", started);
    return undefined;
  }
  const loginResponse = String(started.body["login_response"]);
  const proof = await finishLogin({ state, loginResponse, password });
  const body = { login_id: started.body["login_id"], finish_login_request: proof, device };
  const deed = newDeed(ledger, "user.login.succeeded", null);
  const finished = await send(worker, { method: "POST", path: "/api/auth/login/finish", body }, deed);
  if (!deed.acknowledged) {
    complain(worker, "a login", finished);
    return undefined;
  }
  const id = String(finished.body["session_id"]);
  deed.target = id;
  const session: Session = { id, tokens: tokensOf(finished), isRefreshInDoubt: false, logout: null };
  member.sessions.push(session);
  return session;
}

async function refresh(worker: LoginsWorker, session: Session): Promise<void> {
  const { ledger, random } = worker;
  const question = refreshOf(session.tokens);
  const answer = await insist(worker, () => question, newDeed(ledger, null, null), repeatMilliseconds);
  if (answer?.status !== 200) {
    session.isRefreshInDoubt = true;
    if (answer !== undefined) complain(worker, `a refresh of session ${session.id}`, answer);
    return;
  }
  session.tokens = tokensOf(answer);
  if (random.below(3) === 0) await refreshInSecondTab(worker, session, question);
  await requireOpen(worker, session);
}

/** A second tab with the former token gets the same new one. */
async function refreshInSecondTab(worker: LoginsWorker, session: Session, question: Question): Promise<void> {
  const answer = await send(worker, question);
  if (answer.status !== 200) complain(worker, `a second tab's refresh of session ${session.id}`, answer);
  else if (tokensOf(answer).refresh !== session.tokens.refresh)
    worker.ledger.violations.push(`${worker.name}: session ${session.id} has two refresh tokens`);
}

async function logOut(worker: LoginsWorker, session: Session): Promise<void> {
  const deed = newDeed(worker.ledger, "user.logout", session.id);
  session.logout = deed;
  const question = { method: "POST", path: "/api/auth/logout", bearer: session.tokens.access } as const;
  const answer = await insist(worker, () => hastily(worker, question), deed);
  if (answer === undefined) return;
  // An earlier attempt ended the session, and its response was lost.
  if (answer.status === 401 && isRepeated(deed)) acknowledge(worker, deed);
  if (!deed.acknowledged) complain(worker, `a logout of session ${session.id}`, answer);
  const after = await send(worker, accountOf(session.tokens));
  if (after.status !== 401) complain(worker, `session ${session.id}, which was logged out,`, after);
}

async function requireOpen(worker: LoginsWorker, session: Session): Promise<void> {
  const answer = await send(worker, accountOf(session.tokens));
  if (answer.status !== 200) complain(worker, `session ${session.id}, which is open,`, answer);
}

/** Refreshes a session. */
export function refreshOf({ refresh }: Tokens): Question {
  return { method: "POST", path: "/api/auth/refresh", body: { refresh_token: refresh } };
}

/** A request that only an open session may send. */
export function accountOf({ access }: Tokens): Question {
  return { method: "GET", path: "/api/account", bearer: access };
}
