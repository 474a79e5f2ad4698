/** Whether an `Accept` header prefers the OpenMetrics format over plain text. */
export function acceptsOpenMetrics(accept: string | undefined): boolean {
  const open = quality(accept, "application/openmetrics-text");
  return open > 0 && open >= quality(accept, "text/plain");
}

function quality(accept: string | undefined, type: string): number {
  const offers = (accept ?? "").split(",").map((offer) => offer.split(";").map((part) => part.trim().toLowerCase()));
  const weights = offers
    .filter(([name]) => name === type)
    .map((parts) => Number(parts.find((part) => part.startsWith("q="))?.slice(2) ?? 1));
  return Math.max(0, ...weights.filter((weight) => weight >= 0));
}
