import { ServiceError } from "@coffer/errors";

/** Of a request whose service does not answer. */
export function notAnswering(): ServiceError {
  return new ServiceError("unavailable", "this part of the service is starting; try again in a moment", {
    retryAfterSeconds: 1,
  });
}

/** For whoever opens the address in a browser. */
const welcome =
  "this is Coffer, and there are no pages here: README.md and docs/cli.md in its checkout say how to go on";

/** Of a request that is no service's. */
export function nothingHere(url: string | undefined): ServiceError {
  return new ServiceError("not_found", url === "/" ? welcome : "there is nothing at this path");
}
