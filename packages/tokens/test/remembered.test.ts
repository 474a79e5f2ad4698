import t from "tap";
import { rememberTokens } from "../src/remembered.ts";

void t.test("ten thousand tokens are remembered, the one used longest ago goes first", (t) => {
  const remembered = rememberTokens<{ expiresAt: number }>(() => 0);
  const add = (token: string): void => remembered.add(remembered.find(token).key, { expiresAt: 1 });
  for (let index = 0; index < 10_000; index += 1) add(`token ${index}`);
  t.ok(remembered.find("token 0").claims, "used again");
  add("one more");
  t.ok(remembered.find("token 0").claims);
  t.equal(remembered.find("token 1").claims, undefined);
  t.ok(remembered.find("token 2").claims);
  t.end();
});

void t.test("a token is remembered until its end and known by all of its bytes", (t) => {
  const clock = { milliseconds: 0 };
  const remembered = rememberTokens<{ expiresAt: number }>(() => clock.milliseconds);
  const { key } = remembered.find("token");
  remembered.add(key, { expiresAt: 10 });
  t.equal(remembered.find("token ").claims, undefined);
  t.equal(remembered.find("Token").claims, undefined);
  clock.milliseconds = 9999;
  t.ok(remembered.find("token").claims);
  clock.milliseconds = 10_000;
  t.equal(remembered.find("token").claims, undefined);
  clock.milliseconds = 0;
  t.equal(remembered.find("token").claims, undefined, "it is gone, not only hidden");
  t.end();
});
