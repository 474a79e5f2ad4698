const day = 24 * 60 * 60 * 1000;

/** How long a device may have been away and still hear only of what it missed. */
export const retentionDays = 90;
/** What was deleted is forgotten this much later: an answer in pages may have begun just in time. */
const marginDays = 2;
/** How long an answer in pages may take from one page to the next. */
const pageDays = 1;

/** The earliest moment that a device may continue from. */
export const oldestSync = (now: Date): Date => new Date(now.getTime() - retentionDays * day);
/** What is older is swept away. */
export const oldestKept = (now: Date): Date => new Date(now.getTime() - (retentionDays + marginDays) * day);
/** The earliest page that an answer may be continued from. */
export const oldestPage = (now: Date): Date => new Date(now.getTime() - pageDays * day);
/** Of older ticks one a minute is enough: a device that was away for so long may get a minute's changes twice. */
export const oldestDenseTick = (now: Date): Date => new Date(now.getTime() - day);
