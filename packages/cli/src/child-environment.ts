/** What would let a child act as us: it gets the secrets that it was given, and no way to more. */
const credentials = ["COFFER_CONFIG", "COFFER_TOKEN", "COFFER_PASSWORD"];

/** The environment without this command's own credentials, in any of their forms. */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = new Set(credentials.flatMap((name) => [name, `${name}_FILE`]));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
}
