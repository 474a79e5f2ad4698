import { CofferError } from "../errors.ts";
import type { ApiRequest, Send } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import type { PersonSession } from "./person-session.ts";
import type { PersonStore } from "./person-store.ts";

/** The plain requests of a person. Views are returned as the service sent them. */
export interface PersonApi {
  send: Send;
  get<View>(path: string): Promise<View>;
  list<View>(path: string): Promise<View[]>;
  /** Makes an object, which has an id. A response without one does not come from the service. */
  post<View>(path: string, body: unknown): Promise<View>;
  remove(path: string, query?: ApiRequest["query"]): Promise<void>;
}

/** The state that the parts of a person's client share. */
export interface PersonContext {
  api: PersonApi;
  trust: PersonTrust;
  secrets: PersonStore;
  vaults: VaultStore;
  current(): Promise<PersonSession>;
}

export function personApi(send: Send): PersonApi {
  return {
    send,
    get: async <View>(path: string) => (await send({ method: "GET", path })).body as View,
    list: async <View>(path: string) => dataOf<View>(await send({ method: "GET", path })),
    async post<View>(path: string, body: unknown) {
      const { status, body: made } = await send({ method: "POST", path, body });
      if (typeof (made as { id?: unknown } | undefined)?.id === "string") return made as View;
      throw new CofferError("bad_answer", "the service does not say that anything was made", { status });
    },
    async remove(path, query) {
      await send({ method: "DELETE", path, query });
    },
  };
}
