import { rmSync } from "node:fs";
import { temporaryDirectory } from "@coffer/stores";
import type { TestScope } from "./scope.ts";

/** The folder for the files of all tests; set by `npm test`, which looks for leftovers there. */
export const testRootVariable = "COFFER_TEST_DIRECTORY";

/** A fresh folder that is removed when the test ends, after later teardowns. */
export function testDirectory(t: TestScope): string {
  const directory = makeTestDirectory();
  t.teardown(() => removeTestDirectory(directory));
  return directory;
}

/** A fresh folder for stores. The caller removes it. */
export function makeTestDirectory(): string {
  return temporaryDirectory("coffer-test-", process.env[testRootVariable]);
}

/** Removes a folder of `makeTestDirectory` with its content. */
export function removeTestDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
