import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { ServiceError } from "@coffer/errors";
import type { DeployedService } from "@coffer/events";
import { createRefusals, type Refusals, serve } from "@coffer/http";
import { createFindService } from "./find-service.ts";
import { notAnswering, nothingHere } from "../refuse.ts";
import type { ServiceRow } from "./services.ts";
import { cannotListen } from "../startup-error.ts";
import { answerWelcome, wantsWelcome } from "../welcome.ts";

/** The target of the requests of one service. */
export interface Target {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface Front {
  readonly url: string;
  readonly port: number;
  /** Refuses requests without a service; also for others in front of the services. */
  readonly refusals: Refusals;
  /**
   * Routes requests to these targets from now on; before, every response is 503. `address` is the one
   * that people use: the page for browsers at `/` names it.
   */
  use(targets: ReadonlyMap<DeployedService, Target>, address: string): void;
  /** Accepts no more connections; resolves when requests in flight are answered, or after `seconds`. */
  drain(seconds: number): Promise<void>;
  /** Cuts the remaining connections. */
  close(): Promise<void>;
}

export interface FrontOptions {
  host: string;
  port: number;
  drainSeconds: number;
  rows: readonly ServiceRow[];
  /** Browsers' origins, once the port is known. */
  corsOrigins: (port: number) => readonly string[];
}

/** Listens on the public port and routes each request to its service. Throws StartupError. */
export async function openFront({ host, port, drainSeconds, rows, corsOrigins }: FrontOptions): Promise<Front> {
  const findService = createFindService(rows);
  let targets: ReadonlyMap<DeployedService, Target> | null = null;
  let shownAddress = "";
  let refusals = createRefusals([]);
  const inFlight = new Set<ServerResponse>();
  const upgraded = new Set<Duplex>();

  function targetOf(url: string | undefined): Target | ServiceError {
    if (targets === null) return notAnswering();
    const name = findService(url ?? "/");
    return (name === null ? undefined : targets.get(name)) ?? nothingHere(url);
  }
  function listener(request: IncomingMessage, response: ServerResponse): void {
    inFlight.add(response);
    response.once("close", () => inFlight.delete(response));
    const target = targetOf(request.url);
    if (target instanceof Error && targets !== null && wantsWelcome(request))
      answerWelcome(request, response, shownAddress);
    else if (target instanceof Error) refusals.request(request, response, target);
    else target.request(request, response);
  }
  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    const target = targetOf(request.url);
    if (target instanceof Error) refusals.upgrade(request, socket, target);
    else target.upgrade(request, socket, head);
  }

  const serving = await serve(Object.assign(listener, { upgrade }), { host, port, drainSeconds }).catch(
    (error: unknown) => {
      throw cannotListen(error, { host, port, variable: "COFFER_PORT" });
    },
  );
  refusals = createRefusals(corsOrigins(serving.port));
  let closing: Promise<void> | null = null;
  return {
    refusals,
    url: serving.url,
    port: serving.port,
    use: (next, address) => {
      targets = next;
      shownAddress = address;
    },
    drain: async (seconds) => {
      closing ??= serving.close();
      const patience = new AbortController();
      const late = pause(seconds * 1000, "late", { signal: patience.signal }).catch(() => "late");
      for (const response of inFlight) {
        if ((await Promise.race([once(response, "close"), late])) === "late") break;
      }
      patience.abort();
      await late;
    },
    close: async () => {
      closing ??= serving.close();
      for (const socket of upgraded) socket.destroy();
      for (const response of inFlight) response.destroy();
      await closing;
    },
  };
}
