import type { Mutant } from "../../mutant.ts";

const tests = ["deploy/docker/test/make-readable.test.ts"] as const;

/** What a container may read of its image. */
export const imageMutants: readonly Mutant[] = [
  {
    name: "a-folder-that-only-its-owner-may-read-is-closed-in-an-image",
    file: "deploy/docker/src/make-readable.ts",
    find: "  chmodSync(folder, 0o755);\n",
    replace: "",
    tests,
  },
  {
    name: "the-files-of-an-image-keep-the-modes-of-the-checkout",
    file: "deploy/docker/Dockerfile",
    find: "RUN node /docker/make-readable.ts /app\n",
    replace: "",
    tests,
  },
];
