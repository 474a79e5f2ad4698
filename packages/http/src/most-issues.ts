/** An answer names this many issues of a request, and validation of its lists stops there. */
export const mostIssues = 20;
