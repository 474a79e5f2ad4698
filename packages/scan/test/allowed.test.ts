import t from "tap";
import { exampleOf, scan } from "./harness.ts";

const token = (seed: number): string => exampleOf("github-personal-token", seed);
const linesOf = async (text: string): Promise<number[]> =>
  (await scan(text)).map(({ location }) => location.start_line);

await t.test("a comment counts for its own line and the next, and for no other", async (t) => {
  const text = [token(1), "# coffer:allow", token(2), token(3), `${token(4)} # coffer:allow`, token(5), token(6)];
  t.same(await linesOf(text.join("\n")), [1, 4, 7]);
});

await t.test("a comment that names a kind or rule allows no other", async (t) => {
  const named = (name: string): string => `${token(1)} # coffer:allow ${name}`;
  for (const name of ["github-personal-token", "code-host-personal-token", "Code-Host-Personal-Token"])
    t.same(await linesOf(named(name)), [], name);
  t.same(await linesOf(named("slack-bot-token")), [1]);
});

await t.test("the comments of a line and of the one before count together, several on a line too", async (t) => {
  t.same(await linesOf(`# coffer:allow\n${token(1)} # coffer:allow slack-bot-token`), []);
  t.same(await linesOf(`${token(1)} # coffer:allow slack-bot-token coffer:allow github-personal-token`), []);
  t.same(await linesOf(`# coffer:allow\n# coffer:allow slack-bot-token\n${token(1)}`), [3]);
});
