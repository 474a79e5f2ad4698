import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { checkout } from "../../local/src/checkout.ts";
import { makeReadable } from "../src/make-readable.ts";

void t.test("files of a checkout that only its owner may read are open to all in an image", (t) => {
  const folder = testDirectory(t);
  mkdirSync(join(folder, "closed"), { mode: 0o700 });
  writeFileSync(join(folder, "closed/main.ts"), "", { mode: 0o600 });
  writeFileSync(join(folder, "closed/program"), "", { mode: 0o700 });
  symlinkSync("missing", join(folder, "closed/link"));
  makeReadable(folder);
  const modeOf = (path: string): string => (lstatSync(join(folder, path)).mode & 0o777).toString(8);
  t.same(["closed", "closed/main.ts", "closed/program"].map(modeOf), ["755", "644", "755"]);
  t.end();
});

void t.test("that is the last step of the files in the Dockerfile", (t) => {
  const dockerfile = readFileSync(join(checkout, "deploy/docker/Dockerfile"), "utf8");
  const [, install = ""] = dockerfile.split(/^FROM .* AS /m).filter((stage) => !stage.startsWith("select"));
  t.match(
    install
      .trim()
      .split("\n")
      .findLast((line) => line.startsWith("RUN")),
    /make-readable\.ts \/app$/,
  );
  t.end();
});
