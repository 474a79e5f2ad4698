// npm run check:chart: kube-score on every common case of the chart.
import { basename } from "node:path";
import { caseFiles, template } from "./render.ts";
import { type Exception, compare, kubeScore, readExceptions, score } from "./score.ts";

const help = `usage: npm run check:chart

Renders each charts/coffer/ci/*-values.yaml and checks it with kube-score. charts/coffer/ci/kube-score.yaml has the findings that are
allowed, with their reasons. kube-score is the one on the PATH, or is built with Go.
`;

const report = (line: string): void => void process.stderr.write(`check:chart: ${line}\n`);

function main(): number {
  const program = kubeScore(report);
  const exceptions = readExceptions();
  const needed = new Set<Exception>();
  let failed = 0;
  for (const [name, file] of caseFiles()) {
    const { status, stdout, stderr } = template({ files: [file] });
    if (status !== 0) throw new Error(`${basename(file)}: ${stderr}`);
    const { refused, used } = compare(name, score(program, stdout), exceptions);
    for (const each of used) needed.add(each);
    for (const { object, check, finding, path } of refused)
      process.stdout.write(`${name}: ${object}${path === "" ? "" : ` (${path})`}: ${finding} [${check}]\n`);
    failed += refused.length;
  }
  for (const each of exceptions) {
    if (needed.has(each)) continue;
    process.stdout.write(`no finding needs the exception ${each.check}: ${each.finding}\n`);
    failed += 1;
  }
  process.stdout.write(failed === 0 ? "kube-score is content\n" : `${failed} findings\n`);
  return failed === 0 ? 0 : 1;
}

try {
  if (process.argv.slice(2).some((argument) => ["--help", "-h"].includes(argument))) process.stdout.write(help);
  else process.exitCode = main();
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
