import { ServiceError } from "@coffer/errors";
import { z } from "zod";
import {
  anyone,
  type Authenticate,
  base64Text,
  bearerToken,
  type Call,
  nameText,
  type Route,
  route,
  uidText,
} from "../src/index.ts";

export interface Person {
  kind: "person";
  name: string;
}

/**
 * `Bearer <name>` is that person, except: `nobody` is refused as unknown, `blocked` as not allowed;
 * `revoked` passes until the state is confirmed.
 */
export const person: Authenticate<Person> = async ({ authorization }) => {
  const name = bearerToken(authorization);
  await Promise.resolve();
  if (name === "nobody") throw new ServiceError("invalid_token", "the token is not valid");
  if (name === "blocked") throw new ServiceError("access_denied", "not from here");
  const confirm = (): Promise<void> =>
    name === "revoked"
      ? Promise.reject(new ServiceError("invalid_token", "the token is not valid"))
      : Promise.resolve();
  return { caller: { kind: "person", name }, confirm };
};

/** Answers with the whole call. */
export function echo(_deps: object, call: Call<unknown>): Promise<unknown> {
  return Promise.resolve(call);
}

const thing = z.object({ name: nameText() });
const path = z.object({ uid: uidText });

/** Endpoints of every kind, which answer with their call. */
export const rows: readonly Route<object, Person | { kind: "anonymous" }>[] = [
  route({
    method: "GET",
    path: "/api/sm/v1/secrets/:uid",
    bucket: "standard",
    caller: person,
    params: path,
    status: 200,
    run: echo,
  }),
  route({
    method: "GET",
    path: "/api/sm/v1/secrets/search",
    bucket: "standard",
    caller: person,
    query: z.object({ title: nameText() }),
    status: 200,
    run: echo,
  }),
  route({
    method: "DELETE",
    path: "/api/sm/v1/secrets/:uid",
    bucket: "standard",
    caller: person,
    params: path,
    status: 204,
    run: echo,
  }),
  route({
    method: "PUT",
    path: "/api/sm/v1/secrets/:uid",
    bucket: "standard",
    caller: person,
    lazy: true,
    params: path,
    body: thing,
    status: 200,
    run: echo,
  }),
  route({
    method: "POST",
    path: "/api/sm/v1/bootstrap",
    bucket: "strict",
    caller: anyone,
    body: thing,
    status: 200,
    run: echo,
  }),
  route({
    method: "GET",
    path: "/api/things/:name/parts/:part",
    bucket: "user",
    caller: anyone,
    params: z.object({ name: nameText(), part: nameText() }),
    status: 200,
    run: echo,
  }),
  route({ method: "GET", path: "/api/things", bucket: "user", caller: anyone, status: 200, run: echo }),
  route({
    method: "POST",
    path: "/api/things",
    bucket: "user",
    caller: anyone,
    body: thing,
    bodyLimitBytes: 100,
    status: 201,
    run: echo,
  }),
  route({
    method: "PUT",
    path: "/api/things",
    bucket: "user",
    caller: person,
    body: thing,
    bodyLimitBytes: 100,
    status: 200,
    run: echo,
  }),
  route({ method: "PATCH", path: "/api/things", bucket: "user", caller: person, body: thing, status: 200, run: echo }),
  route({
    method: "POST",
    path: "/api/raw",
    bucket: "user",
    caller: anyone,
    body: "raw",
    headers: ["x-signature"],
    bodyLimitBytes: 100,
    status: 200,
    run: echo,
  }),
  route({
    method: "POST",
    path: "/api/large",
    bucket: "user",
    caller: anyone,
    body: z.object({ data: base64Text(1) }),
    status: 200,
    run: echo,
  }),
];

export const uid = "AbCdEfGhIjKlMnOpQrStUv";
