import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { helm } from "../../chart/src/helm.ts";
import { fileList } from "../../docker/src/file-list.ts";
import { checkout } from "../../local/src/checkout.ts";
import { checksumProblems } from "../src/checksums.ts";
import { imageList } from "../src/images.ts";
import { mainVersion } from "../src/versions.ts";

const version = mainVersion(checkout);
const root = testDirectory(t);
const release = (...args: string[]) =>
  spawnSync(process.execPath, [join(checkout, "deploy/release/src/main.ts"), ...args], { encoding: "utf8" });

await t.test("a dry run makes the files of a release, equal each time", (t) => {
  const [first, second] = [join(root, "first"), join(root, "second")];
  const { status, stdout, stderr } = release("--dry-run", "--out", first);
  t.equal(status, 0, stderr);
  t.match(stdout, /release\.yml does besides/);
  t.same(readdirSync(first).sort(), [
    "RELEASE_NOTES.md",
    "SHA256SUMS",
    `coffer-${version}.cdx.json`,
    `coffer-${version}.tgz`,
    `coffer-chart-${version}.tgz`,
    "images.txt",
  ]);
  t.equal(release("--dry-run", "--out", second).status, 0);
  t.same(fileList(second), fileList(first), "two runs write the same bytes");

  const bill = JSON.parse(readFileSync(join(first, `coffer-${version}.cdx.json`), "utf8")) as {
    metadata: { component: { name: string; version: string } };
    components: { name: string }[];
  };
  t.match(bill.metadata.component, { name: "coffer", version });
  const packed = execFileSync("tar", ["-tzf", join(first, `coffer-${version}.tgz`)], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  const bundled = new Set(
    Array.from(packed.matchAll(/^package\/node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/gm), ([, name]) => name),
  );
  t.same(new Set(bill.components.map(({ name }) => name)), bundled, "it names each package that is packed");

  const notes = readFileSync(join(first, "RELEASE_NOTES.md"), "utf8");
  t.match(notes, /^# Coffer /);
  t.ok(notes.indexOf("- Operators must") < notes.search(/^- (?!Operators must)/m));
  t.equal(
    readFileSync(join(first, "images.txt"), "utf8"),
    imageList("registry.example.com/coffer", version).join("\n") + "\n",
  );

  const rendered = spawnSync(
    helm(),
    [
      "template",
      "coffer",
      join(first, `coffer-chart-${version}.tgz`),
      "--kube-version",
      "1.34.0",
      "--values",
      join(checkout, "charts/coffer/ci/production-external-values.yaml"),
    ],
    { encoding: "utf8", maxBuffer: 1 << 26 },
  );
  t.equal(rendered.status, 0, rendered.stderr);
  t.match(rendered.stdout, new RegExp(`image: "?[^ ]+/vaults:${version.replaceAll(".", "\\.")}"?$`, "m"));

  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: first });
  t.same(checksumProblems(first), []);
  t.end();
});
