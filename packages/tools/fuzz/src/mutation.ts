import type { Operation } from "@coffer/openapi";
import type { Random } from "@coffer/testkit";
import type { RawRequest } from "./request.ts";

/** One malformation of the bytes of a request. */
export interface Mutation {
  readonly name: string;
  apply(request: RawRequest, operation: Operation, random: Random): void;
}
