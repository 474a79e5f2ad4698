import t from "tap";
import { formsOf } from "./forms.ts";
import { exampleOf, scan, summary } from "./harness.ts";

for (const id of ["github-personal-token", "aws-access-key-id", "stripe-live-secret-key", "slack-bot-token"])
  for (const seed of [1, 2, 3]) {
    const token = exampleOf(id, seed);
    await t.test(`${id} is found in every form, once (${seed})`, async (t) => {
      for (const [name, input] of Object.entries(formsOf(token))) {
        const found = await scan(input);
        t.same(
          found.map(({ rule_id, secret }) => [rule_id, secret]),
          [[id, token]],
          name,
        );
      }
    });
  }

await t.test("lines and columns count from 1 in UTF-16 code units, the end exclusive", async (t) => {
  const token = exampleOf("github-personal-token");
  const places = async (input: string | Buffer) => (await scan(input)).map((each) => summary(each).split(" ").at(-1));
  t.same(await places(token), [`1:1-1:41`]);
  t.same(await places(`\n\n  ${token}\n`), ["3:3-3:43"]);
  t.same(await places(`a\r\nü🗝 ${token}`), ["2:5-2:45"]);
  t.same(await places(Buffer.from(`é ${token}`, "latin1")), ["1:3-1:43"]);
  t.same(await places(Buffer.from(`a\nü🗝 ${token}`, "utf16le")), ["2:5-2:45"]);
  t.same(await places(`\ufeff${token}`), ["1:1-1:41"]);
  t.same(await places(`${token} ü ${token}`), ["1:1-1:41", "1:44-1:84"]);
  const block = exampleOf("rsa-private-key");
  t.same(await places(`a\n ${block}\n`), [`2:2-${block.split("\n").length + 1}:30`]);
});

await t.test("an encoded secret stands where its encoding stands", async (t) => {
  const token = exampleOf("github-personal-token");
  const code = Buffer.from(token).toString("base64").replace(/=+$/, "");
  t.match(await scan(`ü\nx = "${code}"`), [
    { location: { start_line: 2, start_column: 6, end_column: 6 + code.length } },
  ]);
  const percent = token.replace(/^g/, "%67");
  t.match(await scan(`a\n\n${percent} `), [{ location: { start_line: 3, start_column: 1, end_column: 43 } }]);
});
