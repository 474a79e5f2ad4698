/** Credentials that a child must not inherit: it gets its secrets, and no access to others. */
const credentials = ["COFFER_CONFIG", "COFFER_TOKEN", "COFFER_PASSWORD"];

/** The environment without this command's own credentials, in any form. */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = new Set(credentials.flatMap((name) => [name, `${name}_FILE`]));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
}
