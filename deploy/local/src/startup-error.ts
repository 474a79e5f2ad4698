/** Why Coffer does not start. The message is one line for the person who started it. */
export class StartupError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "StartupError";
  }
}

/** An error of `listen` as one line for the person who chose the address. */
export function cannotListen(
  error: unknown,
  { host, port, variable }: { host: string; port: number; variable: string },
): StartupError {
  const { code, message } = error as NodeJS.ErrnoException; // an error of listen
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is taken: stop what listens there, or set ${variable}`,
    EACCES: `port ${port} on ${host} may not be opened by this user: set ${variable}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set COFFER_HOST`,
  };
  return new StartupError(reasons[code ?? ""] ?? `cannot listen on ${host}, port ${port}: ${message}`, {
    cause: error,
  });
}

/**
 * An error of the file system about the data directory, or about missing space, as one line; any other
 * error unchanged.
 */
export function aboutDataDirectory(error: unknown, dataDirectory: string): unknown {
  // The fields of a file system error, with `dest` for a copy or link; other errors match nothing.
  const { code, path: source, dest } = error as NodeJS.ErrnoException & { dest?: unknown };
  const path = dest ?? source;
  if (typeof path !== "string" || code === undefined) return error;
  const isAbout = path.startsWith(dataDirectory) || dataDirectory.startsWith(`${path}/`);
  if (!isAbout && code !== "ENOSPC") return error;
  const reasons: Record<string, string> = {
    EACCES: "this user may not use it",
    EEXIST: "it is a file, not a folder",
    ENOENT: "it cannot be made there",
    ENOSPC: "the disk is full",
    ENOTDIR: "a part of the path is a file, not a folder",
    EPERM: "this user may not use it",
    EROFS: "the file system is read-only",
  };
  return new StartupError(`cannot use ${path}: ${reasons[code] ?? code}. COFFER_DATA_DIR chooses the data directory`, {
    cause: error,
  });
}
