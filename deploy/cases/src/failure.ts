/** A case that does not hold: what was expected and what came instead. */
export class CaseFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CaseFailure";
  }
}

/** A value as a message shows it, cut to a readable length. */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
