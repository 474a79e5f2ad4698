import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import t from "tap";
import { checkout } from "../src/checkout.ts";

// Each statement that authorizes a caller is left out in turn, and the compiler must refuse the
// rest: what the operation reads or writes afterwards exists only with the result of the check.

const services = ["auth-sm", "vaults"];

const config = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(checkout, "tsconfig.json"), (path) => ts.sys.readFile(path)).config,
  ts.sys,
  checkout,
  // A statement that is left out leaves unused names, which alone would be an error.
  { noUnusedLocals: false, noUnusedParameters: false, noEmit: true },
);
const files = config.fileNames.filter((file) =>
  services.some((name) => file.startsWith(join(checkout, "services", name, "src/"))),
);
const texts = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));

/** A file without one statement. */
interface Cut {
  file: string;
  line: number;
  text: string;
}

const cuts = files.filter((file) => !file.includes("/access/")).map(cutsOf);
t.ok(cuts.flat().length > 90, `${cuts.flat().length} statements`);

let program: ts.Program | undefined;
t.same(errorsIn(new Map()), new Set(), "nothing is left out");
// Each round leaves out one statement of every file: an operation's types are its own.
for (let round = 0; cuts.some((each) => each.length > round); round += 1) {
  const left = cuts.flatMap((each) => each.slice(round, round + 1));
  const refused = errorsIn(new Map(left.map(({ file, text }) => [file, text])));
  for (const { file, line } of left) t.ok(refused.has(file), `${relative(checkout, file)}:${line}`);
}

/** The files in which the compiler finds errors, while some have another text. */
function errorsIn(changed: ReadonlyMap<string, string>): Set<string> {
  const host = ts.createCompilerHost(config.options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (file, language, onError) => {
    const unchanged = changed.has(file) ? undefined : program?.getSourceFile(file);
    if (unchanged !== undefined && unchanged.text === (texts.get(file) ?? unchanged.text)) return unchanged;
    const text = changed.get(file);
    return text === undefined ? parse(file, language, onError) : ts.createSourceFile(file, text, language);
  };
  const oldProgram = program === undefined ? {} : { oldProgram: program };
  const created = ts.createProgram({ rootNames: files, options: config.options, host, ...oldProgram });
  program = created;
  const checked = changed.size === 0 ? files : [...changed.keys()];
  return new Set(
    checked.filter((file) => {
      const source = created.getSourceFile(file);
      return [...created.getSyntacticDiagnostics(source), ...created.getSemanticDiagnostics(source)].length > 0;
    }),
  );
}

function cutsOf(file: string): Cut[] {
  const text = texts.get(file) ?? "";
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return [...authorizingStatements(source)].map((statement) => ({
    file,
    line: source.getLineAndCharacterOfPosition(statement.getStart()).line + 1,
    text: text.slice(0, statement.getStart()) + text.slice(statement.getEnd()),
  }));
}

/** The statements within functions that call what `access/` exports, or check the session. */
function authorizingStatements(source: ts.SourceFile): Set<ts.Statement> {
  const checks = new Set(["requireActiveSession", ...importedFromAccess(source)]);
  checks.delete("transactionInSession"); // Without it nothing is done.
  const found = new Set<ts.Statement>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && checks.has(nameOf(node.expression))) {
      const statement = ts.findAncestor(node, (each): each is ts.Statement => ts.isStatement(each));
      // Without its `return`, a function still has to return what the check would have authorized.
      if (statement !== undefined && statement.parent !== source && !ts.isReturnStatement(statement))
        found.add(statement);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function nameOf(callee: ts.Expression): string {
  if (ts.isIdentifier(callee)) return callee.text;
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : "";
}

function importedFromAccess({ statements }: ts.SourceFile): string[] {
  return statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }) => {
    const names = importClause?.namedBindings;
    if (!ts.isStringLiteral(moduleSpecifier) || !moduleSpecifier.text.includes("/access/")) return [];
    return names !== undefined && ts.isNamedImports(names) ? names.elements.map(({ name }) => name.text) : [];
  });
}
