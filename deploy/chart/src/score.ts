import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { buildWithGo, onPath } from "./helm.ts";
import { chart, programs } from "./paths.ts";
import { kubernetesVersion } from "./render.ts";

const version = "v1.20.0";
const module = "github.com/zegl/kube-score/cmd/kube-score";

/** A finding that the chart ignores, as in charts/coffer/ci/kube-score.yaml. */
export interface Exception {
  check: string;
  finding: string;
  /** A pattern for `<kind>/<name>`; without it all objects. */
  objects?: string;
  /** Names of common cases; without them all. */
  cases?: string[];
  reason: string;
}

export interface Finding {
  /** `<kind>/<name>`. */
  object: string;
  check: string;
  finding: string;
  /** The container, if it is about one. */
  path: string;
}

/** The used fields of kube-score's JSON. */
interface ScoredObject {
  type_meta: { kind: string };
  object_meta: { name: string };
  checks: {
    check: { id: string };
    grade: number;
    skipped: boolean;
    comments: { path: string; summary: string }[] | null;
  }[];
}

/** This grade and higher ones are not findings. */
const good = 7;

/** The program of kube-score: on the PATH, else built by Go, once, which takes minutes. Throws Error. */
export function kubeScore(report: (line: string) => void): string {
  const found = onPath("kube-score");
  if (found !== null) return found;
  const built = join(programs, `kube-score-${version}`, "kube-score");
  if (existsSync(built)) return built;
  const go = onPath("go");
  if (go === null) throw new Error("kube-score is needed: install it, or Go, which builds it");
  report(`building kube-score ${version} with Go, once, which takes minutes`);
  if (buildWithGo({ go, module, version, target: built })) return built;
  throw new Error("kube-score could not be built: the reason stands above");
}

/** The findings of kube-score in rendered objects. Throws Error if it cannot read them. */
export function score(program: string, rendered: string): Finding[] {
  const kubernetes = `v${kubernetesVersion.split(".").slice(0, 2).join(".")}`;
  const args = ["score", "--kubernetes-version", kubernetes, "--output-format", "json", "-"];
  const { stdout, stderr } = spawnSync(program, args, { input: rendered, encoding: "utf8", maxBuffer: 1 << 26 });
  // It exits with 1 for findings too.
  if (!stdout.startsWith("[")) throw new Error(`kube-score: ${stderr}${stdout}`);
  return findingsIn(stdout);
}

/** The findings in kube-score's JSON. */
export function findingsIn(json: string): Finding[] {
  const objects = JSON.parse(json) as ScoredObject[]; // kube-score's own output
  return objects.flatMap(({ type_meta: { kind }, object_meta: { name }, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade < good)
      .flatMap(({ check, comments }) =>
        (comments ?? []).map(({ path, summary }) => ({
          object: `${kind}/${name}`,
          check: check.id,
          finding: summary,
          path,
        })),
      ),
  );
}

export function readExceptions(): Exception[] {
  return parse(readFileSync(resolve(chart, "ci/kube-score.yaml"), "utf8")) as Exception[]; // written by hand, tested
}

export interface Compared {
  /** Findings that no exception allows. */
  refused: Finding[];
  /** Exceptions that allow a finding. */
  used: ReadonlySet<Exception>;
}

/** Compares the findings of a common case with the exceptions. */
export function compare(name: string, findings: readonly Finding[], exceptions: readonly Exception[]): Compared {
  const used = new Set<Exception>();
  const own = exceptions.filter(({ cases }) => cases === undefined || cases.includes(name));
  const refused = findings.filter((found) => {
    const allowing = own.filter((each) => allows(each, found));
    for (const each of allowing) used.add(each);
    return allowing.length === 0;
  });
  return { refused, used };
}

function allows({ check, finding, objects }: Exception, found: Finding): boolean {
  return (
    check === found.check &&
    finding === found.finding &&
    (objects === undefined || new RegExp(`^(?:${objects})$`).test(found.object))
  );
}
