import { parseArgs } from "node:util";

export const help = `usage: npm run release -- --dry-run [--out DIR] [--registry NAME]
       npm run release -- --check [--tag TAG]
       npm run release -- --executable [--out DIR]
       npm run release -- --tag TAG [--out DIR] [--registry NAME] [--digests DIR] [--executables DIR]
       npm run release -- --verify DIR
       npm run release -- --set-version VERSION

Checks that one version stands everywhere, and makes the files of a release: the command's package and executables with
their bills of materials and licences, the chart, release notes, the list of images and SHA256SUMS. Needs no network and
no daemon.

  --dry-run              makes the files from this checkout, and says what the workflow does besides
  --executable           makes the executable of the command for this machine alone
  --check                only checks
  --tag TAG              of a release, such as v1.2.0: also the tag and the changelog must be of the version
  --out DIR              where the files go; it is emptied first (default: dist/release)
  --registry NAME        what stands before a service's name in the name of an image
                         (default: registry.example.com/coffer)
  --digests DIR          files *.digest, each with an image, its tag and digest: images.txt has them
  --executables DIR      the executables, one for each platform (default: made for this machine)
  --verify DIR           compares the files of a release with their SHA256SUMS
  --set-version VERSION  writes the version everywhere, and gives it to the changelog's "Unreleased"
`;

const options = {
  help: { type: "boolean" },
  "dry-run": { type: "boolean" },
  executable: { type: "boolean" },
  check: { type: "boolean" },
  tag: { type: "string" },
  out: { type: "string", default: "dist/release" },
  registry: { type: "string", default: "registry.example.com/coffer" },
  digests: { type: "string" },
  executables: { type: "string" },
  verify: { type: "string" },
  "set-version": { type: "string" },
} as const;

const actionNames = ["help", "make", "executable", "check", "verify", "set-version"] as const;

export interface Options {
  action: (typeof actionNames)[number];
  dryRun: boolean;
  tag: string | null;
  out: string;
  registry: string;
  /** The folder of the images' digests. */
  digests: string | null;
  /** The folder of the executables of all platforms. */
  executables: string | null;
  /** The argument of the action: a folder, or a version. */
  argument: string;
}

/** @throws Error for unknown options, and for none or several actions */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({ args: [...args], options });
  const dryRun = values["dry-run"] === true;
  const asked: Record<Options["action"], boolean> = {
    help: values.help === true,
    executable: values.executable === true,
    check: values.check === true,
    verify: values.verify !== undefined,
    "set-version": values["set-version"] !== undefined,
    make: dryRun || (values.tag !== undefined && values.check !== true && values.executable !== true),
  };
  const actions = actionNames.filter((name) => asked[name]);
  const [action, second] = actions;
  if (action === undefined || second !== undefined) throw new Error(`give one thing to do\n\n${help}`);
  return {
    action,
    dryRun,
    tag: values.tag ?? null,
    out: values.out,
    registry: values.registry,
    digests: values.digests ?? null,
    executables: values.executables ?? null,
    argument: values.verify ?? values["set-version"] ?? "",
  };
}
