import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const command = fileURLToPath(new URL("../../bin/coffer.mjs", import.meta.url));

await t.test("this checkout is clean: only the test vectors are ignored, each by its fingerprint", async (t) => {
  // Outside of a repository nothing says that the packages that npm installed are not of this checkout.
  const isRepository = existsSync(`${root}/.git`);
  const paths = isRepository ? [] : readdirSync(root).filter((name) => !["node_modules", ".coffer"].includes(name));
  const { code, output } = await new Promise<{ code: unknown; output: string }>((done) =>
    execFile(process.execPath, [command, "scan", ...paths], { cwd: root }, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, output: stdout + stderr }),
    ),
  );
  t.equal(code, 0, output);
  t.match(output, /\n?coffer: 0 secrets in \d+ inputs, [^;]+; .*5 in \.cofferignore/);
});
