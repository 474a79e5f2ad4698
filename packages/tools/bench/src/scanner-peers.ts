import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { existsSync } from "node:fs";
import { builtInRules } from "@coffer/scan";
import { seededRandom } from "../../../scan/src/examples/random.ts";
import { formsOf } from "../../../scan/test/forms.ts";
import { plantInPlaces } from "../../../scan/test/places.ts";
import type { Figure } from "./row.ts";

/** A scanner's command lines, of which each prints the files and secrets that it finds. */
export interface Scanner {
  name: string;
  program: string;
  files: string[];
  /** Command lines that together search a repository. */
  repository: string[][];
}

const gitleaks = (name: string): Scanner => {
  const report = ["--report-format", "json", "--report-path", "-", "--no-banner", "--exit-code", "0"];
  return {
    name,
    program: name,
    files: ["dir", ".", ...report, "--max-decode-depth", "4", "--max-archive-depth", "4"],
    repository: [
      ["dir", ".", ...report],
      ["git", ".", ...report, "--log-opts", "--all --reflog"],
    ],
  };
};
const trufflehog: Scanner = {
  name: "trufflehog",
  program: "trufflehog",
  files: ["filesystem", ".", "--json", "--no-verification", "--no-update"],
  repository: [
    ["filesystem", ".", "--json", "--no-verification", "--no-update"],
    ["git", "file://.", "--json", "--no-verification", "--no-update"],
  ],
};
const kingfisher: Scanner = {
  name: "kingfisher",
  program: "kingfisher",
  files: ["scan", ".", "--format", "json", "--no-validate"],
  repository: [["scan", ".", "--format", "json", "--no-validate"]],
};

/** The other scanners that are on the PATH. */
export function peers(): Scanner[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return [gitleaks("gitleaks"), gitleaks("betterleaks"), trufflehog, kingfisher].filter(({ program }) =>
    folders.some((folder) => existsSync(join(folder, program))),
  );
}

function tokenOf(seed: number): string {
  const rule = builtInRules.find(({ id }) => id === "github-personal-token");
  return rule?.examples.positive(seededRandom(seed))[0] ?? "";
}

function outputOf({ program }: Scanner, args: readonly string[], cwd: string): string {
  const { stdout, error } = spawnSync(program, args, { cwd, encoding: "utf8", maxBuffer: 1e9, timeout: 120_000 });
  if (error !== undefined) throw new Error(`${program} could not be run: ${error.message}`);
  return stdout;
}

/**
 * In how many of the 37 forms and 12 places each scanner finds a token. The baseline is the best of
 * the others.
 */
export function foundFigures(ours: Scanner, others: readonly Scanner[], folder: string): Figure[] {
  const forms = Object.values(formsOf(tokenOf(1)));
  const inForms = join(folder, "forms");
  mkdirSync(inForms);
  forms.forEach((content, index) => writeFileSync(join(inForms, `form-${index}-.txt`), content));
  const inPlaces = join(folder, "places");
  const places = Object.values(plantInPlaces(inPlaces, tokenOf));
  const counts = [ours, ...others].map((scanner) => {
    const files = outputOf(scanner, scanner.files, inForms);
    const repository = scanner.repository.map((args) => outputOf(scanner, args, inPlaces)).join("");
    return {
      name: scanner.name,
      forms: forms.filter((_, index) => files.includes(`form-${index}-.txt`)).length,
      places: places.filter((token) => repository.includes(token)).length,
    };
  });
  const [own, ...rest] = counts;
  const figure = (what: "forms" | "places", all: number): Figure[] => {
    const best = rest.length === 0 ? null : Math.max(...rest.map((each) => each[what]));
    const value = own?.[what] ?? 0;
    const name = `scanner: ${what} of a token found, of ${all}`;
    return [
      {
        ...{ name, value, baseline: best, unit: "", ratio: best === null ? null : value / best },
        ...{ target: `${all}`, holds: value === all },
      },
      ...rest.map((each) => ({
        ...{ name: `${each.name}: ${what} found, of ${all}`, value: each[what], baseline: null, unit: "" },
        ...{ ratio: null, target: "–", holds: null },
      })),
    ];
  };
  return [...figure("forms", forms.length), ...figure("places", places.length)];
}
