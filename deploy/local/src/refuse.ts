import { ServiceError } from "@coffer/errors";

/** A request whose service does not answer. */
export function notAnswering(): ServiceError {
  return new ServiceError("unavailable", "this part of the service is starting; try again in a moment", {
    retryAfterSeconds: 1,
  });
}

/** For programs that request `/`; a browser gets a page (`welcome.ts`). */
const welcome = "this is Coffer: its interface is below /api, and docs/api.md in its checkout describes it";

/** A request without a service. */
export function nothingHere(url: string | undefined): ServiceError {
  return new ServiceError("not_found", url === "/" ? welcome : "there is nothing at this path");
}
