/** Parses the text of one variable. Throws `ValueProblem` with the required form. */
export type Parse<T> = (text: string) => T;

/** The value of another variable, parsed or its default. */
export type Given = <T>(variable: Variable<T>) => T;

/** One row of the table: a name, its meaning, its parser, and its default. */
export interface Variable<T> {
  readonly name: string;
  /** The default as documentation shows it. */
  readonly shownDefault: string;
  readonly meaning: string;
  readonly parse: Parse<T>;
  readonly fallback: (given: Given) => T;
  /** Whether the text must never be quoted in a problem. */
  readonly secret: boolean;
  /** The program sets it itself; it is not for operators. */
  readonly internal: boolean;
}

/** The problem of a text, without the text: "must be a whole number from 0 to 65535". */
export class ValueProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ValueProblem";
  }
}

type Row<T> = Pick<Variable<T>, "name" | "shownDefault" | "meaning" | "parse" | "fallback"> &
  Partial<Pick<Variable<T>, "secret" | "internal">>;

export function variable<T>(row: Row<T>): Variable<T> {
  return { secret: false, internal: false, ...row };
}
