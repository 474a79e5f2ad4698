/** The status, in metrics and traces only, of a request whose caller went away before all of its answer. */
export const closedByCaller = 499;
