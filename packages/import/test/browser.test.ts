import t from "tap";
import { startBrowser } from "../../crypto/test/browser/start.ts";
import type * as Index from "../src/index.ts";
import { importFormats, readImport, writeExport } from "../src/index.ts";
import { bytesOf, withIds } from "./records.ts";
import { personal, table } from "./samples/bitwarden.ts";
import { keepassFile } from "./samples/keepass.ts";
import { exportData } from "./samples/onepassword.ts";
import { chrome, lastpass } from "./samples/tables.ts";
import { zipOf } from "./zip-of.ts";

const files = {
  "bitwarden-json": bytesOf(JSON.stringify(personal)),
  "bitwarden-csv": bytesOf(table),
  "1pux": await zipOf({ "export.data": JSON.stringify(exportData) }),
  "keepass-xml": bytesOf(keepassFile),
  "chrome-csv": bytesOf(chrome),
  "lastpass-csv": bytesOf(lastpass),
  csv: bytesOf("Title,Username,Password,Colour\nShop,ada,canary,red\n"),
  "coffer-json": bytesOf((await writeExport("coffer-json", withIds([{ type: "login", payload: { name: "a" } }]))).text),
};

await t.test("the same sources read in a browser what they read in Node", async (t) => {
  const { openPage } = await startBrowser(t);
  const page = await openPage();
  for (const format of importFormats) {
    const read = await page.evaluate(
      async ({ index, bytes }) => {
        const { readImport, writeExport } = (await import(index)) as typeof Index;
        const file = await readImport(new Uint8Array(bytes));
        const id = "01900000-0000-7000-8000-000000000000";
        const written = await writeExport(
          "bitwarden-json",
          file.records.map((record) => ({ ...record, id })),
        );
        return { file, again: (await readImport(new TextEncoder().encode(written.text))).records };
      },
      { index: "/packages/import/src/index.ts", bytes: [...files[format]] },
    );
    const here = await readImport(files[format]);
    t.strictSame(read.file, here, format);
    t.equal(read.again.length, here.records.length, `${format}: written and read there`);
  }
});
