import type { Calls } from "../protocol/calls.ts";

/** The calls that the page makes to the worker. Each throws CofferError or Refusal. */
export type CallHandlers = {
  [Name in keyof Calls]: (input: Parameters<Calls[Name]>[0]) => Promise<ReturnType<Calls[Name]>>;
};
