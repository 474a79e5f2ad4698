import type { Store } from "@coffer/stores";
import type { TestScope, TestServer } from "./scope.ts";
import { makeTestDirectory, removeTestDirectory } from "./test-directory.ts";

/** Starts a store in its own folder and ends both with the test. `start` gets the folder and the port. */
export async function testServer(
  t: TestScope,
  start: (directory: string, port: number | undefined) => Promise<Store>,
): Promise<TestServer> {
  const directory = makeTestDirectory();
  let store: Store | null = null;
  const stop = async (): Promise<void> => {
    const running = store;
    store = null;
    await running?.stop();
  };
  t.teardown(async () => {
    await stop();
    removeTestDirectory(directory);
  });
  const first = await start(directory, undefined);
  store = first;
  return {
    url: first.url,
    stop,
    kill: async () => {
      store?.kill();
      await stop();
    },
    start: async () => {
      store ??= await start(directory, first.port);
    },
  };
}
