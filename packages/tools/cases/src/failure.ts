/** A failed case: the expected and the actual value. */
export class CaseFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CaseFailure";
  }
}

/** A value for a message, cut to a readable length. */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
