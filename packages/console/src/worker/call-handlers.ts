import type { Calls } from "../protocol.ts";

/** What the worker does for the page. Each throws CofferError or Refusal. */
export type CallHandlers = {
  [Name in keyof Calls]: (input: Parameters<Calls[Name]>[0]) => Promise<ReturnType<Calls[Name]>>;
};
