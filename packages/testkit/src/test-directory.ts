import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestScope } from "./scope.ts";

/** Where a run of the suite keeps what its tests write; set by `npm test`, which looks for leftovers there. */
export const testRootVariable = "COFFER_TEST_DIRECTORY";

/** A fresh folder that is removed when the test ends, after what was registered later has been torn down. */
export function testDirectory(t: TestScope): string {
  const directory = makeTestDirectory();
  t.teardown(() => removeTestDirectory(directory));
  return directory;
}

/** A fresh folder. Whoever made it removes it. */
export function makeTestDirectory(): string {
  return realpathSync(mkdtempSync(join(process.env[testRootVariable] ?? tmpdir(), "coffer-test-")));
}

/** Removes a folder of `makeTestDirectory` with all that is in it. */
export function removeTestDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
