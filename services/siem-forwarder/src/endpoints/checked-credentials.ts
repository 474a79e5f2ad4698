import type { SiemFormat } from "@coffer/contract";
import { credentialsOf } from "../credentials/credentials.ts";
import type { GivenCredentials, SiemCredentials } from "../credentials/credentials.ts";
import type { Deps } from "../deps.ts";
import { checkEndpointUrl } from "../outgoing/endpoint-url.ts";

/**
 * The credentials of an endpoint of this format. The address in them follows the rules of the endpoint's own.
 * @throws ServiceError `invalid_request`
 */
export async function checkedCredentials(
  { destinations }: Pick<Deps, "destinations">,
  format: SiemFormat,
  given: GivenCredentials,
): Promise<SiemCredentials> {
  const credentials = credentialsOf(format, given);
  if (!("login_url" in credentials)) return credentials;
  const address = { text: credentials.login_url, format: "login", field: "credentials.login_url" } as const;
  return { ...credentials, login_url: await checkEndpointUrl(destinations, address) };
}
