import type { SiemFormat } from "@coffer/contract";
import { CofferError } from "../errors.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { PersonContext } from "../people/person-context.ts";
import type { SiemTestView, SiemWebhookView } from "../views.ts";

/** A new SIEM endpoint. docs/siem.md lists the credentials of each format. */
export interface NewSiemWebhook {
  name?: string | undefined;
  format: SiemFormat;
  url: string;
  credentials: Readonly<Record<string, string>>;
  enabled?: boolean | undefined;
}

/**
 * The destinations of the organization's audit records. Owners and admins change them; auditors
 * list them.
 */
export interface SiemClient {
  list(): Promise<SiemWebhookView[]>;
  create(webhook: NewSiemWebhook): Promise<SiemWebhookView>;
  /**
   * Fields that are not given are not changed. `credentials` replace all earlier ones; another
   * origin needs them again, otherwise it is 400.
   */
  update(id: string, change: Partial<Omit<NewSiemWebhook, "format">>): Promise<SiemWebhookView>;
  remove(id: string): Promise<void>;
  /** Sends one event, and resolves with the endpoint's response. */
  test(id: string): Promise<SiemTestView>;
}

const webhooks = "/api/org/siem/webhooks";
const webhook = (id: string): string => `${webhooks}/${encodeURIComponent(id)}`;

export function siemClient({ api }: PersonContext): SiemClient {
  const { send, list, post, remove } = api;
  return {
    list: () => list(webhooks),
    create: (given) => post(webhooks, given),
    update: async (id, change) =>
      requireRequested<SiemWebhookView>(await send({ method: "PATCH", path: webhook(id), body: change }), { id }),
    remove: (id) => remove(webhook(id)),
    async test(id) {
      const { status, body } = await send({ method: "POST", path: `${webhook(id)}/test`, body: {} });
      const said = body as SiemTestView | undefined; // ok is checked; the rest is the service's word
      if (typeof said?.ok === "boolean") return said;
      throw new CofferError("bad_answer", "the service does not say what the endpoint answered", { status });
    },
  };
}
