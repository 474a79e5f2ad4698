/** Why Coffer does not start. The message is one line for the person who started it. */
export class StartupError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "StartupError";
  }
}

/** What `listen` threw, as one line for the person who chose the address. */
export function cannotListen(
  error: unknown,
  { host, port, variable }: { host: string; port: number; variable: string },
): StartupError {
  const { code, message } = error as NodeJS.ErrnoException; // what listen throws
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is taken: stop what listens there, or set ${variable}`,
    EACCES: `port ${port} on ${host} may not be opened by this user: set ${variable}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set COFFER_HOST`,
  };
  return new StartupError(reasons[code ?? ""] ?? `cannot listen on ${host}, port ${port}: ${message}`, {
    cause: error,
  });
}
