import type { SiemFormat } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Destinations } from "./destination.ts";
import { AddressRefused, allowedAddresses } from "./destination.ts";
import { NameNotResolved } from "./resolve.ts";

/** As long as a URL may be. */
const mostCharacters = 2048;

/**
 * As long as a creation waits for a name server. A name that does not resolve yet is checked at
 * every connect.
 */
const patienceMilliseconds = 3_000;

/**
 * Checks the address of an endpoint: its form, and that its host is not on a network that is refused.
 * @param field the member of the request, for the error
 * @returns the URL in canonical form
 * @throws ServiceError `invalid_request`
 */
export async function checkEndpointUrl(
  destinations: Destinations,
  { text, format, field }: { text: string; format: SiemFormat | "login"; field: string },
): Promise<string> {
  const refuse = (issue: string): ServiceError =>
    new ServiceError("invalid_request", `the address of the endpoint is not usable: ${field} ${issue}`, {
      details: [{ field, issue }],
    });
  const url = text.length <= mostCharacters ? URL.parse(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw refuse(`must be an https URL of at most ${mostCharacters} characters`);
  if (url.username !== "" || url.password !== "") throw refuse("must not hold a user or a password");
  if (url.hash !== "" || text.includes("#")) throw refuse("must have no fragment");
  if (format !== "ecs" && (url.search !== "" || text.includes("?"))) throw refuse("must have no query");
  if (format === "ecs" && !url.pathname.endsWith("/_bulk")) throw refuse("must have a path that ends with /_bulk");
  try {
    await Promise.race([allowedAddresses(destinations, url), patience()]);
  } catch (error) {
    if (error instanceof AddressRefused)
      throw refuse(
        url.protocol === "http:"
          ? "must begin with https://: http is for networks that the operator allows (COFFER_SIEM_ALLOWED_CIDRS)"
          : "names a private or reserved address: the operator allows networks with COFFER_SIEM_ALLOWED_CIDRS",
      );
    if (!(error instanceof NameNotResolved)) throw error;
    // Without an address there is nothing to compare with the operator's networks.
    if (url.protocol === "http:") throw refuse("must begin with https://, or with the name of a host that resolves");
  }
  return url.href;
}

function patience(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, patienceMilliseconds).unref();
  });
}
