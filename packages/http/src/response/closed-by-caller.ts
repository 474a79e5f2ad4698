/** The status in metrics and traces of a request whose caller disconnected. */
export const closedByCaller = 499;
