import { fingerprint } from "@coffer/crypto";
import type { FromWorker, ToWorker } from "../protocol/calls.ts";
import type { CallHandlers } from "./call-handlers.ts";
import { createCalls } from "./calls.ts";
import { failureOf, Refusal } from "./failure.ts";
import type { PagePort, WorkerScope } from "./globals.ts";
import { createSession } from "./session/create-session.ts";
import { checkPassword, passwordChanged } from "./session/password.ts";
import { present, unlocked } from "./session/session.ts";
import { settingsStore } from "./session/settings.ts";

// All pages share this worker, and with it one session and one connection. In a browser without shared workers each
// page has one of its own.

const scope = globalThis as unknown as WorkerScope; // the compiler takes the scope for that of a page
const ports = new Set<PagePort>();
const post = (message: FromWorker): void => {
  for (const port of ports) port.postMessage(message);
};
const settings = settingsStore();
const session = createSession(location.origin, post, settings);
const calls: Partial<CallHandlers> = createCalls(session);
const laterCalls = async (): Promise<Partial<CallHandlers>> => {
  const { createLaterCalls } = await import("./later-calls.ts");
  return createLaterCalls({
    unlocked: () => unlocked(session),
    checkPassword: (password) => checkPassword(session, password),
    passwordChanged: (password) => passwordChanged(session, password),
    refuse: (code) => new Refusal(code),
    wordsOf: async (publicKey) => (await fingerprint(publicKey)).words,
  });
};

function connect(port: PagePort): void {
  ports.add(port);
  port.onmessage = ({ data }: MessageEvent<ToWorker | "closing">) => {
    if (data === "closing") ports.delete(port);
    else void answer(port, data);
  };
  // The page needs its language first.
  void Promise.all([settings.loaded, session.passkeys.loaded]).then(() => {
    for (const message of present(session)) port.postMessage(message);
  });
}

async function answer(port: PagePort, { id, name, input }: ToWorker): Promise<void> {
  try {
    const all = Object.hasOwn(calls, name) ? calls : await laterCalls();
    // The page's types match. What another script makes up is no call.
    const run = (Object.hasOwn(all, name) ? all[name] : undefined) as (input: unknown) => unknown;
    port.postMessage({ kind: "answer", id, value: await run(input) } satisfies FromWorker);
  } catch (error) {
    port.postMessage({ kind: "failure", id, failure: failureOf(error) } satisfies FromWorker);
  }
}

if ("onconnect" in scope)
  scope.onconnect = ({ ports: [port] }) => {
    if (port !== undefined) connect(port);
  };
else connect(scope);
