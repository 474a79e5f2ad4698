/** One deliberate fault, and the tests that must catch it. Paths are those of the checkout. */
export interface Mutant {
  /** The fault, as a word of the command line. */
  name: string;
  file: string;
  /** Text that occurs once in the file. */
  find: string;
  /** Its replacement. It must compile: a program that does not run proves nothing about the tests. */
  replace: string;
  /** Test files; one of them must fail. The quickest first. */
  tests: readonly [string, ...string[]];
}
