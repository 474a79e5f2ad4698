/** Parses the text of one variable. Throws `ValueProblem` with what the text should have been. */
export type Parse<T> = (text: string) => T;

/** The value of another variable, parsed or its default. */
export type Given = <T>(variable: Variable<T>) => T;

/** One row of the table: a name, what it means, how its text is read, and its value when nothing is given. */
export interface Variable<T> {
  readonly name: string;
  /** The default as a person reads it. */
  readonly shownDefault: string;
  readonly meaning: string;
  readonly parse: Parse<T>;
  readonly fallback: (given: Given) => T;
  /** The text is never quoted in a problem. */
  readonly secret: boolean;
  /** Set by the program itself. Known, but not something to set by hand. */
  readonly internal: boolean;
}

/** What is wrong with a text, without the text: "must be a whole number from 0 to 65535". */
export class ValueProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ValueProblem";
  }
}

type Row<T> = Pick<Variable<T>, "name" | "shownDefault" | "meaning" | "parse" | "fallback"> &
  Partial<Pick<Variable<T>, "secret" | "internal">>;

/** Completes a row: neither secret nor internal, unless it says otherwise. */
export function variable<T>(row: Row<T>): Variable<T> {
  return { secret: false, internal: false, ...row };
}
