export const scanPath = "/api/scanner/scan";

/** What was scanned has no name that an audit record may hold. */
export const noTarget = { type: "scan", id: null } as const;
