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

await t.test("a value that is encoded alone is known by the name before it, and found at its place", async (t) => {
  const [line] = exampleOf("aws-secret-access-key", 5).split("\n");
  const secret = /[A-Za-z0-9/+]{40}/.exec(line ?? "")?.[0] ?? "";
  const encoded = Buffer.from(secret).toString("base64");
  const data = (name: string): string => `kind: Secret\ndata:\n  ${name}: ${encoded}\n`;
  const [found, ...others] = await scan(data("AWS_SECRET_ACCESS_KEY"));
  t.same(others, []);
  t.match(found, {
    rule_id: "aws-secret-access-key",
    secret,
    location: { start_line: 3, start_column: 26, end_line: 3, end_column: 26 + encoded.replace(/=+$/, "").length },
  });
  t.same(await scan(data("CHECKSUM_OF_THE_FILE")), []);
});

await t.test("a value on a later line is known by the name that Terraform and Kubernetes write above it", async (t) => {
  const secret = /[A-Za-z0-9/+]{40}/.exec(exampleOf("aws-secret-access-key", 6))?.[0] ?? "";
  const indented = " ".repeat(30);
  for (const text of [
    `variable "aws_secret_access_key" {\n  type    = string\n  default = "${secret}"\n}\n`,
    `- name: AWS_SECRET_ACCESS_KEY\n${indented}value: ${secret}\n`,
    `+  AwsSecretAccessKey:\n+    Type: String\n+    NoEcho: true\n+    Default: ${secret}\n`,
  ])
    t.match(await scan(text), [{ rule_id: "aws-secret-access-key", secret }], text);
  t.same(await scan(`AWS_SECRET_ACCESS_KEY=\${KEY}\n${indented}checksum: ${secret}\n`), []);
});

await t.test("a secret in hexadecimal digits is found behind any number of other characters and digits", async (t) => {
  const token = exampleOf("aws-access-key-id");
  const code = Buffer.from(token).toString("hex");
  for (let length = 0; length < 64; length += 1)
    for (const before of ["z".repeat(length), `${"a".repeat(length)}z`, `${"a".repeat(length)}\n`])
      t.match(await scan(`${before}${code}`), [{ rule_id: "aws-access-key-id", secret: token }], before);
});
