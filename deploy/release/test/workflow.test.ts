import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parse } from "yaml";
import { runHelm } from "../../chart/src/helm.ts";
import { checkout } from "../../local/src/checkout.ts";
import { platforms } from "../src/executable/names.ts";
import { imageNames } from "../src/images.ts";
import { readOptions } from "../src/options.ts";

interface Step {
  uses?: string;
  run?: string;
  id?: string;
  with?: Record<string, unknown>;
}
interface Job {
  needs?: string | string[];
  permissions?: Record<string, string>;
  strategy?: { matrix: { image?: string[]; runner?: string[] } };
  steps: Step[];
}

const text = readFileSync(join(checkout, ".github/workflows/release.yml"), "utf8");
const workflow = parse(text) as { on: unknown; permissions: unknown; jobs: Record<string, Job> };
const jobs = Object.entries(workflow.jobs);
const steps = jobs.flatMap(([, job]) => job.steps);
const scripts = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
const { scripts: known } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/** What a shell, the runners of GitHub and the steps before have. */
const programs = ["cosign", "docker", "gh", "git", "helm", "mktemp", "node", "npm", "sed", "tee"];
const shell = ["case", "echo", "esac", "export", "fi", "if", "then"];

/** The commands of a script, each as its words; a continued line is one. */
function commandsOf(script: string): string[][] {
  return script
    .replaceAll("\\\n", " ")
    .replaceAll("$(", "\n")
    .replaceAll(/"[^"\n]*"/g, (quoted) => quoted.replaceAll(/[|;]/g, ""))
    .split(/\n|;|\|/)
    .map((line) =>
      line
        .trim()
        .split(/\s+/)
        .filter((word) => !/^\w+=/.test(word)),
    )
    .filter(([first]) => first !== undefined && first !== "");
}

await t.test("a tag starts it, and each job has the permissions that it needs and no other", (t) => {
  t.same(workflow.on, { push: { tags: ["v*"] } });
  t.same(workflow.permissions, { contents: "read" });
  const given = Object.fromEntries(
    jobs.map(([name, { permissions = {} }]) => [
      name,
      Object.entries(permissions)
        .flatMap(([key, value]) => (value === "write" ? [key] : []))
        .sort(),
    ]),
  );
  t.same(given, {
    check: [],
    executables: [],
    images: ["attestations", "id-token", "packages"],
    publish: ["attestations", "contents", "id-token", "packages"],
  });
  t.same(
    jobs.map(([, { needs }]) => needs),
    [undefined, "check", "check", ["images", "executables"]],
  );
  t.end();
});

await t.test("it makes the image of each service and of the command", (t) => {
  t.same([...(workflow.jobs["images"]?.strategy?.matrix.image ?? [])].sort(), imageNames().sort());
  t.match(text, "--platform linux/amd64,linux/arm64");
  t.end();
});

/** The platforms of the runners of GitHub. */
const runners: Readonly<Record<string, string>> = {
  "ubuntu-24.04": "linux-x64",
  "ubuntu-24.04-arm": "linux-arm64",
  "macos-15": "darwin-arm64",
  "macos-15-intel": "darwin-x64",
};

await t.test("it makes the executable of each platform on that platform, and publishes all", (t) => {
  const { strategy, steps: made = [] } = workflow.jobs["executables"] ?? {};
  t.same(strategy?.matrix.runner?.map((runner) => runners[runner]).sort(), [...platforms].sort());
  const uploaded = made.find(({ uses }) => uses?.startsWith("actions/upload-artifact@"))?.with ?? {};
  t.match(uploaded, { path: "executables/*", "if-no-files-found": "error" });
  const collected = workflow.jobs["publish"]?.steps.map(({ with: given = {} }) => given["pattern"]);
  t.ok(collected?.includes("executable-*"));
  t.match(String(uploaded["name"]), /^executable-/);
  t.end();
});

await t.test("each command in it exists", (t) => {
  for (const script of scripts) {
    t.equal(spawnSync("bash", ["-n", "-c", script.replaceAll(/\$\{\{[^}]*\}\}/g, "x")]).status, 0, script);
    for (const [program = "", ...args] of commandsOf(script)) {
      if (program === "npm" && args[0] === "run") {
        t.ok(known[args[1] ?? ""], `npm run ${args[1] ?? ""}`);
        const given = args.slice(3).map((each) => each.replaceAll('"', ""));
        if (args[1] === "release") t.doesNotThrow(() => readOptions(given), given.join(" "));
      } else if (program === "helm")
        t.equal(runHelm([...args.slice(0, args[0] === "registry" ? 2 : 1), "--help"]).status, 0, args.join(" "));
      else if (program.includes("/")) t.ok(existsSync(join(checkout, program)), program);
      else if (!shell.includes(program) && !/\)$|^[*]/.test(program))
        t.ok(programs.includes(program), `${program} ${args.join(" ")}`);
    }
    for (const [path] of script.matchAll(/\b(deploy|charts|docs)\/[\w./-]+/g))
      t.ok(existsSync(join(checkout, path)), path);
  }
  t.end();
});

await t.test("everything that is published is signed, and says where it was built", (t) => {
  t.match(text, 'cosign sign --yes "$REGISTRY/$IMAGE@$digest"');
  t.match(text, 'cosign sign --yes "$REGISTRY/charts/coffer@');
  t.match(text, "cosign sign-blob --yes --bundle dist/release/SHA256SUMS.sigstore.json dist/release/SHA256SUMS");
  const attested = steps.filter(({ uses }) => uses?.startsWith("actions/attest-build-provenance@"));
  t.same(
    attested.map(({ with: given = {} }) => given["subject-path"] ?? given["subject-name"]),
    ["${{ steps.build.outputs.name }}", "dist/release/*"],
  );
  const billed = steps.filter(({ uses }) => uses?.startsWith("actions/attest-sbom@"));
  t.same(
    billed.map(({ with: given = {} }) => String(given["sbom-path"]).replace(/^.*version \}\}/, "")),
    [".cdx.json", "-executable.cdx.json"],
  );
  const outputs = new Set(
    scripts.flatMap((script) => Array.from(script.matchAll(/echo "(\w+)=.*GITHUB_OUTPUT/g), ([, name = ""]) => name)),
  );
  for (const [, id = "", name = ""] of text.matchAll(/steps\.(\w+)\.outputs\.(\w+)/g)) {
    t.ok(
      steps.some((step) => step.id === id),
      id,
    );
    t.ok(outputs.has(name), name);
  }
  t.end();
});
