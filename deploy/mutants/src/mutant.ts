/** One deliberate breakage, and who must notice. Paths are those of the checkout. */
export interface Mutant {
  /** What is broken, as a word of the command line. */
  name: string;
  file: string;
  /** Text that occurs in the file once. */
  find: string;
  /** What stands there instead. It must be of the right types: what does not even run proves nothing about the tests. */
  replace: string;
  /** Test files; one of them must fail. The quickest first. */
  tests: readonly [string, ...string[]];
}
