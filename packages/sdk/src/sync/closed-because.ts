import { CofferError } from "../errors.ts";
import { deadLink } from "./connection.ts";

/** The service closed the oldest idle connection, because the session or the user has too many. */
export const tooMany = 1008;

/** The reason of a closed connection, for a person. */
export function closedBecause(code: number, url: string): CofferError {
  if (code === tooMany)
    return new CofferError("unavailable", `${url} has too many connections of this session or user: end some`);
  if (code === 1012) return new CofferError("unavailable", `${url} is being restarted`);
  if (code === 1013) return new CofferError("unavailable", `${url} is busy: it will be tried again`);
  if (code === 4001) return new CofferError("unavailable", `${url} does not take the session's token`);
  const why = code === deadLink ? "it does not answer" : "the connection was lost, or refused";
  return new CofferError("network", `${url} cannot be reached for sync: ${why}`);
}
