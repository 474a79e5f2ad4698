/** A response names at most this many issues, and validation of lists stops there. */
export const mostIssues = 20;
