import { rmSync } from "node:fs";
import { temporaryDirectory } from "@coffer/stores";
import type { TestScope } from "./scope.ts";

/** Where a run of the suite keeps what its tests write; set by `npm test`, which looks for leftovers there. */
export const testRootVariable = "COFFER_TEST_DIRECTORY";

/** A fresh folder that is removed when the test ends, after what was registered later has been torn down. */
export function testDirectory(t: TestScope): string {
  const directory = makeTestDirectory();
  t.teardown(() => removeTestDirectory(directory));
  return directory;
}

/** A fresh folder, below which stores can run. The caller removes it. */
export function makeTestDirectory(): string {
  return temporaryDirectory("coffer-test-", process.env[testRootVariable]);
}

/** Removes a folder of `makeTestDirectory` with all that is in it. */
export function removeTestDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
