const day = 24 * 60 * 60 * 1000;

/** How long a device may be away and still sync incrementally. */
export const retentionDays = 90;
/** Tombstones stay longer by this margin, for a response in pages that began just in time. */
const marginDays = 2;
/** How long a client may take from one page to the next. */
const pageDays = 1;

/** The earliest moment from which a device may continue. */
export const oldestSync = (now: Date): Date => new Date(now.getTime() - retentionDays * day);
/** The sweep deletes older rows. */
export const oldestRetained = (now: Date): Date => new Date(now.getTime() - (retentionDays + marginDays) * day);
/** The earliest page from which a client may continue. */
export const oldestPage = (now: Date): Date => new Date(now.getTime() - pageDays * day);
/** Older ticks are thinned to one a minute: a device then may receive a minute of changes twice. */
export const oldestDenseTick = (now: Date): Date => new Date(now.getTime() - day);
