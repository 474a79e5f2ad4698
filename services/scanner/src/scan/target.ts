export const scanPath = "/api/scanner/scan";

/** The target of a scan. Audit records contain no paths. */
export const noTarget = { type: "scan", id: null } as const;
