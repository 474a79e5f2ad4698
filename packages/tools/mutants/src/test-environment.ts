import { join } from "node:path";

/** The caller's environment without its configuration of Coffer, for tests that write below `directory`. */
export function testEnvironment(directory: string, postgresUrl: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(TAP$|(COFFER|OTEL|TAP)_)/.test(name));
  return {
    ...Object.fromEntries(own),
    TMPDIR: directory,
    // Copies have other paths each time: compiled files are for this run only.
    NODE_COMPILE_CACHE: join(directory, "compiled"),
    COFFER_TEST_DIRECTORY: directory,
    COFFER_TEST_POSTGRES_URL: postgresUrl,
  };
}
