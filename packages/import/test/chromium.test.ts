import { readFileSync } from "node:fs";
import t from "tap";
import { readImport } from "../src/index.ts";

const exported = readFileSync(new URL("files/chromium-156.0.8078.79.csv", import.meta.url));

await t.test("an export of Chromium is read completely", async (t) => {
  const { format, records, leftOut, notes } = await readImport(exported);
  t.equal(format, "chrome-csv");
  t.strictSame(
    records.map(({ type }) => type),
    records.map(() => "login"),
  );
  t.strictSame(
    records.map(({ payload }) => payload),
    [
      {
        name: "app.example.com",
        username: "eve",
        password: "in an app",
        uri: "android://bWFkZSB1cA==@com.example.app/",
        notes: "of the app",
      },
      { name: "http://192.168.0.1:8080", username: "bob", password: "=1+1", uri: "http://192.168.0.1:8080/" },
      {
        name: "läden.example",
        username: "Ünï 🗝",
        password: " spaced ",
        uri: "https://xn--lden-loa.example/s%C3%B6hne",
        notes: "\ttab\r\nand return\n",
      },
      { name: "shop.example", password: "no user", uri: "https://shop.example/" },
      {
        name: "shop.example",
        username: "ada@example.com",
        password: 'made-up <pass>, "word" ñ',
        uri: "https://shop.example/login",
        notes: 'first line\nsecond, "quoted" line',
      },
    ],
  );
  t.strictSame([leftOut, notes], [[], []]);
});
