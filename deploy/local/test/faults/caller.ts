import { createPrivateKey, type KeyObject, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Cli } from "../cli/cli-person.ts";

/** A caller with a grant on the folder, and the paths of its secrets. */
export interface Caller {
  kind: "person" | "machine";
  bearer(): string;
  /** Where the folder's secrets are listed and made. */
  list: string;
  secret(uid: string): string;
  /** Additional fields of a body that makes a secret. */
  creates: Record<string, unknown>;
}

export interface Answer {
  /** 0 without a complete response. */
  status: number;
  body: Record<string, unknown>;
}

/** The person who is logged in with this command. */
export function personCaller(cli: Cli, folderId: string): Caller {
  const profile = JSON.parse(readFileSync(join(cli.home, "coffer/profile.json"), "utf8")) as {
    sessions: Record<string, { access_token: string }>;
  };
  // The profile names the service by the address that it has made of the given one.
  const token = Object.values(profile.sessions)[0]?.access_token ?? "";
  const list = `/api/org/folders/${folderId}/secrets`;
  return { kind: "person", bearer: () => token, list, secret: (uid) => `${list}/${uid}`, creates: {} };
}

/** The machine of a configuration file. */
export function configuredMachine(file: string, url: string, folderId: string): Caller {
  const machine = JSON.parse(readFileSync(file, "utf8")) as { client_id: string; private_key: string };
  const key = createPrivateKey({ key: Buffer.from(machine.private_key, "base64"), format: "der", type: "pkcs8" });
  return machineCaller({ clientId: machine.client_id, key }, url, folderId);
}

/** The machine that has this id and private key. */
export function machineCaller(machine: { clientId: string; key: KeyObject }, url: string, folderId: string): Caller {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const list = "/api/sm/v1/secrets";
  let token = { text: "", until: 0 };
  const bearer = (): string => {
    const now = Math.floor(Date.now() / 1000);
    if (now < token.until - 60) return token.text;
    const claims = { sub: machine.clientId, aud: url, iat: now, exp: now + 300 };
    const signed = `${part({ alg: "ES256", typ: "JWT" })}.${part(claims)}`;
    const signature = sign("sha256", Buffer.from(signed), { key: machine.key, dsaEncoding: "ieee-p1363" });
    token = { text: `${signed}.${signature.toString("base64url")}`, until: now + 300 };
    return token.text;
  };
  return { kind: "machine", bearer, list, secret: (uid) => `${list}/${uid}`, creates: { folder_id: folderId } };
}

let addresses = 0;

/** A new source address: no request of the load exceeds its limit. */
export function freshAddress(): string {
  addresses += 1;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

export function newRequestId(): string {
  return `faults-${randomUUID()}`;
}

export interface Question {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body?: object;
  requestId?: string;
  bearer?: string;
  address?: string;
  /** The timeout. */
  milliseconds?: number;
}

const timeoutMilliseconds = 20_000;

/** Sends once. An incomplete response counts as none. */
export async function send(url: string, question: Question): Promise<Answer> {
  const { method, path, body, requestId = newRequestId(), bearer, address = freshAddress() } = question;
  const { milliseconds = timeoutMilliseconds } = question;
  try {
    const response = await fetch(url + path, {
      method,
      signal: AbortSignal.timeout(milliseconds),
      headers: {
        "x-forwarded-for": address,
        "x-request-id": requestId,
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
  } catch {
    return { status: 0, body: {} };
  }
}

/** So long a check asks on while the service is away. */
const patienceMilliseconds = 60_000;

/**
 * Repeats a request while the service is overloaded and answers 503 or not at all. Such an answer
 * does not say what is stored.
 */
export async function ask(url: string, question: Question): Promise<Answer> {
  const end = performance.now() + patienceMilliseconds;
  for (;;) {
    const answer = await send(url, question);
    if ((answer.status !== 503 && answer.status !== 0) || performance.now() > end) return answer;
    await pause(250);
  }
}

/** Sends a request that must succeed; returns the body. Throws otherwise. */
export async function demand(url: string, question: Question): Promise<Answer["body"]> {
  const { status, body } = await (question.method === "GET" ? ask : send)(url, question);
  if (status < 200 || status > 299) throw new Error(`${question.method} ${question.path} was answered ${status}`);
  return body;
}
