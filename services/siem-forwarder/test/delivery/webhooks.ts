import type { EndpointView } from "../../src/endpoints/view.ts";
import { checkedFetch } from "@coffer/openapi";
import type { Person } from "../people.ts";

export interface WebhookAnswer {
  status: number;
  body: EndpointView & { data?: EndpointView[]; error?: string; message?: string; details?: { field: string }[] };
}

/**
 * The endpoints of the interface below `/api/org/siem/webhooks`, each answer compared with the
 * description.
 */
export function webhooksAt(url: string, ask: typeof fetch = checkedFetch) {
  const call = async (
    person: Pick<Person, "token"> | undefined,
    method: string,
    path = "",
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<WebhookAnswer> => {
    const response = await ask(`${url}/api/org/siem/webhooks${path}`, {
      method,
      headers: {
        ...(person === undefined ? {} : { authorization: `Bearer ${person.token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    // The shape is what the tests are about.
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as WebhookAnswer["body"] };
  };
  return {
    call,
    create: (person: Person, body: object) => call(person, "POST", "", body),
    list: async (person: Person) => (await call(person, "GET")).body.data ?? [],
    change: (person: Person, id: string, body: object) => call(person, "PATCH", `/${id}`, body),
    remove: (person: Person, id: string) => call(person, "DELETE", `/${id}`),
  };
}

export const hecEndpoint = {
  format: "hec",
  url: "https://splunk.invalid:8088/",
  credentials: { token: "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9" },
};
