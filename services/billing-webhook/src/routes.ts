import { route } from "@coffer/http";
import { stripe } from "./events/caller.ts";
import { receiveEvent } from "./events/receive.ts";

/** The service's HTTP surface. */
export const routes = [
  route({
    method: "POST",
    path: "/api/webhooks/stripe",
    bucket: "strict",
    caller: stripe,
    body: "raw",
    headers: ["stripe-signature"],
    status: 200,
    run: receiveEvent,
  }),
];
