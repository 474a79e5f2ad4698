/** An error that a server in memory answers. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object[] | undefined;

  constructor(status: number, code: string, message: string = code, details?: object[]) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}
