import type { Send } from "./case-file.ts";
import type { HttpRequest } from "./connection.ts";
import { addressOf, type Run, tokenOf } from "./run.ts";
import { signEvent } from "./sign-event.ts";
import { evaluate } from "./template.ts";

/** The parts of a step that make its request. */
type RequestGiven = Omit<Send, "times" | "expect" | "save" | "opens">;

/** The request of a step. */
export async function requestOf(run: Run, step: RequestGiven): Promise<HttpRequest> {
  const { scope } = run;
  const [method = "", ...path] = String(await evaluate(step.send, scope)).split(" ");
  const headers = (await evaluate(step.headers, scope)) as Record<string, string>; // evaluation preserves the shape
  const authorization = await authorizationOf(run, step);
  const body =
    step.text === undefined ? jsonOf(await evaluate(step.body, scope)) : String(await evaluate(step.text, scope));
  return {
    method,
    path: path.join(" "),
    headers: {
      ...(body === undefined ? {} : { "content-type": step.type ?? "application/json" }),
      ...(authorization === undefined ? {} : { authorization }),
      ...(step.stripe === undefined
        ? {}
        : { "stripe-signature": signEvent(body ?? "", run.stripeSecret, step.stripe) }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    address: addressOf(run, step.from),
  };
}

const jsonOf = (body: unknown): string | undefined => (body === undefined ? undefined : JSON.stringify(body));

async function authorizationOf(run: Run, step: RequestGiven): Promise<string | undefined> {
  if (step.authorization !== undefined) return String(await evaluate(step.authorization, run.scope));
  const token = await tokenOf(run, step);
  return token === undefined ? undefined : `Bearer ${token}`;
}
