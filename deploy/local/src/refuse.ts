import { ServiceError } from "@coffer/errors";

/** Of a request whose service does not answer. */
export function notAnswering(): ServiceError {
  return new ServiceError("unavailable", "this part of the service is starting; try again in a moment", {
    retryAfterSeconds: 1,
  });
}

/** For programs that request the address itself; a browser gets a page (`welcome.ts`). */
const welcome = "this is Coffer: its interface is below /api, and docs/api.md in its checkout describes it";

/** Of a request that is no service's. */
export function nothingHere(url: string | undefined): ServiceError {
  return new ServiceError("not_found", url === "/" ? welcome : "there is nothing at this path");
}
