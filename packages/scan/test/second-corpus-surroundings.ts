import { gzipSync } from "node:zlib";
import { wrap } from "./second-corpus-kinds-keys.ts";
import { base36, base62, hex, lower } from "./second-corpus-random.ts";
import type { Draw } from "./second-corpus-random.ts";

/** A file of the corpus. */
export interface Place {
  path: string;
  bytes: Buffer;
}

/** Puts a value under a name into a file. */
export interface Surrounding {
  name: string;
  /** The name does not stand in the file: not for kinds that are known by it. */
  nameless?: boolean;
  place(draw: Draw, name: string, value: string): Place;
}

const snake = (name: string): string => name.toLowerCase();
const kebab = (name: string): string => snake(name).replaceAll("_", "-");
const camel = (name: string): string => snake(name).replace(/_([a-z0-9])/g, (_, char: string) => char.toUpperCase());
const pascal = (name: string): string => camel(name).replace(/^./, (char) => char.toUpperCase());

type Write = (draw: Draw, name: string, value: string) => string;

const text = (name: string, path: string, write: Write): Surrounding => ({
  name,
  place: (draw, variable, value) => ({ path, bytes: Buffer.from(write(draw, variable, value)) }),
});
const alone = (name: string, path: string, write: Write): Surrounding => ({
  ...text(name, path, write),
  nameless: true,
});
const binary = (
  name: string,
  path: string,
  write: (draw: Draw, name: string, value: string) => Buffer,
): Surrounding => ({
  name,
  place: (draw, variable, value) => ({ path, bytes: write(draw, variable, value) }),
});

const env: Write = (draw, name, value) =>
  `NODE_ENV=production\nPORT=${draw.between(1024, 9999)}\n${name}=${value}\nLOG_LEVEL=info\n`;

const json = (value: string): string => JSON.stringify(value);

/** One long line of code without secrets, as a bundler writes it. */
function minified(draw: Draw, length: number): string {
  let code = "";
  while (code.length < length) {
    const [a, b, c] = [draw.text(lower, 1), draw.text(lower, 2), draw.text(base36, 3)];
    code += `function ${a}(${b}){return ${b}.${a}${c}&&"${draw.text(lower, 6)}"||[${draw.below(999)},!0]}var _${c}=${a}(e.t);`;
  }
  return code;
}

/** Each UTF-16 unit in two bytes. */
function wide(value: string, options: { mark: boolean; big: boolean }): Buffer {
  const bytes = Buffer.from(`${options.mark ? "\ufeff" : ""}${value}`, "utf16le");
  return options.big ? bytes.swap16() : bytes;
}

const percent = (value: string): string =>
  [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");

const escaped = (value: string): string =>
  Array.from(value, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

const withEnv =
  (write: (file: string, draw: Draw) => string): Write =>
  (draw, name, value) =>
    write(env(draw, name, value), draw);

const toBase64 = (value: string): string => Buffer.from(value).toString("base64");

/** Where a value of one line stands. */
export const surroundings: Surrounding[] = [
  text("env", ".env", env),
  text("env quoted", ".env.production", (_, name, value) => `# production\n${name}="${value}" # rotate in May\n`),
  text("env single-quoted", "deploy.env", (_, name, value) => `${name}='${value}'\n`),
  text("shell export", "bin/deploy.sh", (_, name, value) => `#!/bin/sh\nset -e\nexport ${name}=${value}\n./run\n`),
  text("fish", "config.fish", (_, name, value) => `set -gx ${name} ${value}\n`),
  text("PowerShell", "deploy.ps1", (_, name, value) => `$env:${name} = "${value}"\r\nInvoke-Deploy\r\n`),
  text("batch", "deploy.bat", (_, name, value) => `@echo off\r\nset ${name}=${value}\r\n`),
  text("YAML", "config/app.yaml", (_, name, value) => `server:\n  port: 8080\n${snake(name)}: ${value}\n`),
  text("YAML quoted", "config/app.yml", (_, name, value) => `auth:\n  nested:\n    ${kebab(name)}: "${value}"\n`),
  text(
    "YAML list",
    "compose.yaml",
    (_, name, value) => `services:\n  web:\n    environment:\n      - ${name}=${value}\n`,
  ),
  text(
    "YAML name and value",
    "deployment.yaml",
    (_, name, value) =>
      `      containers:\n        - name: web\n          env:\n            - name: ${name}\n              value: ${value}\n`,
  ),
  text(
    "JSON",
    "config.json",
    (_, name, value) => `{\n  "debug": false,\n  "${camel(name)}": ${json(value)},\n  "n": 1\n}\n`,
  ),
  text(
    "JSON minified",
    "settings.json",
    (draw, name, value) => `{"id":"${draw.uuid()}","${snake(name)}":${json(value)},"items":[1,2,3]}`,
  ),
  text("JSON in JSON", "task.json", (_, name, value) =>
    JSON.stringify({ definition: JSON.stringify({ environment: { [name]: value } }) }),
  ),
  text(
    "JSON name and value",
    "task-definition.json",
    (_, name, value) => `{"environment":[{"name":"${name}","value":${json(value)}}]}\n`,
  ),
  text("TOML", "config.toml", (_, name, value) => `[service]\n${snake(name)} = "${value}"\n`),
  text("INI", "app.ini", (_, name, value) => `[service]\n${snake(name)} = ${value}\n`),
  text("properties", "application.properties", (_, name, value) => `server.port=80\napp.${kebab(name)}=${value}\n`),
  text(
    "XML element",
    "config.xml",
    (_, name, value) => `<config>\n  <${camel(name)}>${value}</${camel(name)}>\n</config>\n`,
  ),
  text(
    "XML attribute",
    "web.config",
    (_, name, value) => `<appSettings>\n  <add key="${name}" value="${value}" />\n</appSettings>\n`,
  ),
  text(
    "plist",
    "Info.plist",
    (_, name, value) => `<dict>\n\t<key>${name}</key>\n\t<string>${value}</string>\n</dict>\n`,
  ),
  text("Python", "settings.py", (_, name, value) => `DEBUG = False\n${name} = "${value}"\n`),
  text("Python dictionary", "conf.py", (_, name, value) => `config = {\n    '${snake(name)}': '${value}',\n}\n`),
  text("Python environment", "run.py", (_, name, value) => `import os\nos.environ["${name}"] = "${value}"\n`),
  text("Python default", "env.py", (_, name, value) => `key = os.getenv("${name}", "${value}")\n`),
  text("JavaScript", "src/config.js", (_, name, value) => `const ${camel(name)} = '${value}';\nmodule.exports = {};\n`),
  text("JavaScript default", "src/env.mjs", (_, name, value) => `const key = process.env.${name} || "${value}";\n`),
  text(
    "TypeScript",
    "src/config.ts",
    (_, name, value) => `export const config = {\n  ${camel(name)}: \`${value}\`,\n};\n`,
  ),
  text("Go", "config.go", (_, name, value) => `package config\n\nconst ${pascal(name)} = "${value}"\n`),
  text("Go struct", "main.go", (_, name, value) => `cfg := Config{\n\t${pascal(name)}: "${value}",\n}\n`),
  text(
    "Java",
    "Config.java",
    (_, name, value) => `class Config {\n  private static final String ${name} = "${value}";\n}\n`,
  ),
  text("Kotlin", "Config.kt", (_, name, value) => `object Config {\n    const val ${name} = "${value}"\n}\n`),
  text("Swift", "Config.swift", (_, name, value) => `let ${camel(name)}: String = "${value}"\n`),
  text("C#", "Config.cs", (_, name, value) => `public const string ${pascal(name)} = "${value}";\n`),
  text("C++", "config.h", (_, name, value) => `#pragma once\n#define ${name} "${value}"\n`),
  text("Rust", "config.rs", (_, name, value) => `pub const ${name}: &str = "${value}";\n`),
  text("Ruby", "config.rb", (_, name, value) => `ENV['${name}'] ||= '${value}'\n`),
  text("Ruby hash", "client.rb", (_, name, value) => `Client.new(:${snake(name)} => "${value}")\n`),
  text("PHP", "config.php", (_, name, value) => `<?php\ndefine('${name}', '${value}');\n`),
  text("PHP array", "app.php", (_, name, value) => `<?php\nreturn ['${snake(name)}' => '${value}'];\n`),
  text("Elixir", "config.exs", (_, name, value) => `config :acme, ${snake(name)}: "${value}"\n`),
  text("Clojure", "config.edn", (_, name, value) => `{:${kebab(name)} "${value}"}\n`),
  text("Scala", "application.conf", (_, name, value) => `acme {\n  ${kebab(name)} = "${value}"\n}\n`),
  text("R", "setup.R", (_, name, value) => `Sys.setenv(${name} = "${value}")\n`),
  text("Perl", "config.pl", (_, name, value) => `$ENV{${name}} = '${value}';\n`),
  text("Lua", "config.lua", (_, name, value) => `return { ${snake(name)} = "${value}" }\n`),
  text("Dart", "config.dart", (_, name, value) => `static const String ${camel(name)} = '${value}';\n`),
  text(
    "Terraform variable",
    "variables.tf",
    (_, name, value) => `variable "${snake(name)}" {\n  type    = string\n  default = "${value}"\n}\n`,
  ),
  text("Terraform values", "prod.tfvars", (_, name, value) => `region = "eu"\n${snake(name)} = "${value}"\n`),
  text(
    "Terraform environment",
    "lambda.tf",
    (_, name, value) => `  environment {\n    variables = {\n      ${name} = "${value}"\n    }\n  }\n`,
  ),
  text("Dockerfile ENV", "Dockerfile", (_, name, value) => `FROM node:24\nENV ${name}=${value}\nCMD ["node"]\n`),
  text("Dockerfile ENV old", "Dockerfile.old", (_, name, value) => `FROM node:24\nENV ${name} ${value}\n`),
  text("Dockerfile ARG", "api.Dockerfile", (_, name, value) => `FROM node:24\nARG ${name}="${value}"\n`),
  text(
    "GitHub Actions",
    ".github/workflows/ci.yml",
    (_, name, value) => `jobs:\n  test:\n    runs-on: ubuntu-latest\n    env:\n      ${name}: ${value}\n`,
  ),
  text("GitLab CI", ".gitlab-ci.yml", (_, name, value) => `variables:\n  ${name}: "${value}"\ntest:\n  script: make\n`),
  text("Jenkins", "Jenkinsfile", (_, name, value) => `pipeline {\n  environment {\n    ${name} = '${value}'\n  }\n}\n`),
  text("CircleCI", ".circleci/config.yml", (_, name, value) => `      - run: ${name}=${value} make release\n`),
  text(
    "Kubernetes stringData",
    "secret.yaml",
    (_, name, value) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: web\nstringData:\n  ${name}: ${value}\n`,
  ),
  text(
    "Kubernetes data",
    "k8s/secret.yaml",
    (_, name, value) =>
      `apiVersion: v1\nkind: Secret\nmetadata:\n  name: web\ntype: Opaque\ndata:\n  ${name}: ${toBase64(value)}\n`,
  ),
  text(
    "Kubernetes env file",
    "k8s/env.yaml",
    withEnv((file) => `apiVersion: v1\nkind: Secret\nmetadata: {name: web}\ndata:\n  .env: ${toBase64(file)}\n`),
  ),
  text(
    "CloudFormation",
    "stack.yaml",
    (_, name, value) => `Parameters:\n  ${pascal(name)}:\n    Type: String\n    Default: ${value}\n`,
  ),
  text("Ansible", "group_vars/all.yml", (_, name, value) => `---\nacme_${snake(name)}: '${value}'\n`),
  text("systemd", "web.service", (_, name, value) => `[Service]\nEnvironment="${name}=${value}"\nExecStart=/bin/web\n`),
  text("docker run", "run.md", (_, name, value) => `\`\`\`sh\ndocker run -e ${name}=${value} acme/web\n\`\`\`\n`),
  text("option", "Makefile", (_, name, value) => `deploy:\n\t./deploy --${kebab(name)}=${value} --wait\n`),
  text("option with blank", "deploy.mk", (_, name, value) => `deploy:\n\t./deploy --${kebab(name)} ${value} --wait\n`),
  text("notebook", "analysis.ipynb", (_, name, value) =>
    JSON.stringify({
      cells: [{ cell_type: "code", outputs: [], source: ["import os\n", `os.environ["${name}"] = "${value}"\n`] }],
      nbformat: 4,
    }),
  ),
  text("notebook output", "run.ipynb", (_, name, value) =>
    JSON.stringify(
      { cells: [{ cell_type: "code", outputs: [{ name: "stdout", text: [`${name}=${value}\n`] }] }] },
      null,
      1,
    ),
  ),
  text("Markdown", "README.md", (_, name, value) => `Set \`${name}\` to \`${value}\`.\n`),
  text(
    "log",
    "app.log",
    (draw, name, value) =>
      `2026-05-0${draw.between(1, 9)}T10:11:12Z INFO start ${name}=${value} pid=${draw.below(9999)}\n`,
  ),
  text(
    "SQL",
    "seed.sql",
    (_, name, value) => `INSERT INTO settings (name, value) VALUES ('${snake(name)}', '${value}');\n`,
  ),
  text("CSV", "settings.csv", (_, name, value) => `name,value,owner\n${name},${value},ops\n`),
  text("HTML data", "index.html", (_, name, value) => `<div id="app" data-${kebab(name)}="${value}"></div>\n`),
  text("HTML script", "page.html", (_, name, value) => `<script>window.${name}="${value}";</script>\n`),
  text(
    "HTML entities",
    "form.html",
    (_, name, value) => `<div data-config="{&quot;${camel(name)}&quot;:&quot;${value}&quot;}"></div>\n`,
  ),
  text(
    "minified",
    "dist/app.min.js",
    (draw, name, value) =>
      `${minified(draw, 2_000)}var ${draw.text(lower, 1)}={${camel(name)}:"${value}"};${minified(draw, 2_000)}`,
  ),
  text(
    "diff",
    "change.patch",
    (_, name, value) => `--- a/.env\n+++ b/.env\n@@ -1,2 +1,3 @@\n PORT=80\n+${name}=${value}\n LOG=info\n`,
  ),
  text(
    "diff removed",
    "old.patch",
    (_, name, value) => `--- a/app.yaml\n+++ b/app.yaml\n@@ -1,2 +1 @@\n port: 80\n-${snake(name)}: ${value}\n`,
  ),
  text(
    "CRLF",
    "win.env",
    withEnv((file) => file.replaceAll("\n", "\r\n")),
  ),
  text(
    "CR",
    "mac.env",
    withEnv((file) => file.replaceAll("\n", "\r")),
  ),
  text("no line end", "last.env", (_, name, value) => `${name}=${value}`),
  text(
    "UTF-8 with mark",
    "mark.env",
    withEnv((file) => `\ufeff${file}`),
  ),
  text("Chinese", "zh.yaml", (_, name, value) => `# 生产环境的密钥，请勿外传 🔑\n${snake(name)}: ${value} # 密钥\n`),
  text("Chinese sentence", "zh.md", (_, name, value) => `请把${name}设为“${value}”，然后重启。\n`),
  text("typographic quotes", "note.txt", (_, name, value) => `${name} = “${value}”\n`),
  text("no-break blanks", "nbsp.txt", (_, name, value) => `${name}\u00a0=\u00a0${value}\u00a0\n`),
  binary("UTF-16LE with mark", "le.env", (draw, name, value) =>
    wide(env(draw, name, value), { mark: true, big: false }),
  ),
  binary("UTF-16BE with mark", "be.env", (draw, name, value) =>
    wide(env(draw, name, value), { mark: true, big: true }),
  ),
  binary("UTF-16LE", "le.txt", (draw, name, value) => wide(env(draw, name, value), { mark: false, big: false })),
  binary("UTF-16BE", "be.txt", (draw, name, value) => wide(env(draw, name, value), { mark: false, big: true })),
  binary("gzip", "env.gz", (draw, name, value) => gzipSync(env(draw, name, value))),
  text(
    "base64 of a file",
    "user-data.txt",
    withEnv((file) => `user_data: ${toBase64(file)}\n`),
  ),
  text(
    "base64url of a file",
    "link.txt",
    withEnv((file) => `https://acme.io/#${Buffer.from(file).toString("base64url")}\n`),
  ),
  text(
    "base64 in lines",
    "mail.eml",
    withEnv((file) => `Content-Transfer-Encoding: base64\n\n${wrap(toBase64(`${file}${file}`), 76)}\n`),
  ),
  text(
    "base64 twice",
    "twice.yaml",
    withEnv((file) => `data: ${toBase64(toBase64(file))}\n`),
  ),
  text(
    "base64 in JSON",
    "state.json",
    withEnv((file) => JSON.stringify({ version: 4, user_data: toBase64(file) })),
  ),
  text(
    "base64 of JSON",
    "jwt.txt",
    (_, name, value) => `cookie=${toBase64(JSON.stringify({ [camel(name)]: value }))}\n`,
  ),
  text(
    "hex of a file",
    "dump.txt",
    withEnv((file) => `dump: ${Buffer.from(file).toString("hex")}\n`),
  ),
  text(
    "percent-encoded file",
    "share.txt",
    withEnv((file) => `https://play.acme.io/?env=${encodeURIComponent(file)}\n`),
  ),
  text(
    "percent-encoded twice",
    "share2.txt",
    withEnv((file) => `https://play.acme.io/?next=${encodeURIComponent(`/x?env=${encodeURIComponent(file)}`)}\n`),
  ),
  text(
    "URL parameter",
    "url.txt",
    (_, name, value) => `https://api.acme.io/v1?${snake(name)}=${encodeURIComponent(value)}&page=2\n`,
  ),
  alone(
    "header",
    "request.http",
    (_, __, value) => `GET /v1/me HTTP/1.1\nHost: api.acme.io\nAuthorization: Bearer ${value}\n`,
  ),
  alone(
    "curl",
    "call.sh",
    (_, __, value) => `curl -sS -H 'Authorization: Bearer ${value}' https://api.acme.io/v1/me\n`,
  ),
  alone("argument", "main.py", (draw, _, value) => `client = Client("${value}", timeout=${draw.below(60)})\n`),
  alone("commented", "old.js", (_, __, value) => `// new Client("${value}")\n`),
  alone("netrc", ".netrc", (_, __, value) => `machine api.acme.io\n  login ci\n  password ${value}\n`),
  alone("list", "keys.txt", (draw, _, value) => `${draw.uuid()}\n${value}\n${draw.text(hex, 40)}\n`),
  alone("only", "key", (_, __, value) => value),
  alone("base64 alone", "token.b64", (_, __, value) => toBase64(value)),
  alone("hex alone", "token.hex", (_, __, value) => Buffer.from(value).toString("hex")),
  alone("percent alone", "token.url", (_, __, value) => `next=${percent(value)}\n`),
  alone("escapes alone", "token.json", (_, __, value) => `{"t":"${escaped(value)}"}\n`),
  alone(
    "lock file",
    "package-lock.json",
    (draw, _, value) =>
      `{"packages":{"node_modules/a":{"version":"1.0.0","resolved":"https://npm.acme.io/a.tgz?t=${value}","integrity":"sha512-${draw.bytes(64).toString("base64")}"}}}\n`,
  ),
  alone(
    "cookie",
    "har.json",
    (draw, _, value) =>
      `{"request":{"headers":[{"name":"x-api-key","value":"${value}"},{"name":"x-id","value":"${draw.text(base62, 12)}"}]}}\n`,
  ),
];

const eachLine = (value: string, write: (line: string) => string): string =>
  value
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => write(line))
    .join("\n");

const inOneLine = (value: string): string => value.replaceAll("\n", "\\n");

/** Where a value of several lines stands. */
export const blockSurroundings: Surrounding[] = [
  text("file", "server.pem", (_, __, value) => value),
  text("file with CRLF", "win.pem", (_, __, value) => value.replaceAll("\n", "\r\n")),
  text("file without line end", "last.pem", (_, __, value) => value.trimEnd()),
  text("env escaped", ".env", (_, name, value) => `${name}="${inOneLine(value)}"\n`),
  text("env lines", "lines.env", (_, name, value) => `${name}="${value.trimEnd()}"\n`),
  text(
    "YAML block",
    "tls.yaml",
    (_, name, value) => `tls:\n  ${snake(name)}: |\n${eachLine(value, (line) => `    ${line}`)}\n`,
  ),
  text("YAML quoted", "quoted.yaml", (_, name, value) => `${snake(name)}: "${inOneLine(value)}"\n`),
  text("JSON", "key.json", (_, name, value) => `${JSON.stringify({ [camel(name)]: value }, null, 2)}\n`),
  text("JSON in JSON", "outer.json", (_, name, value) => JSON.stringify({ body: JSON.stringify({ [name]: value }) })),
  text("JSON list", "list.json", (_, name, value) => JSON.stringify({ [name]: value.split("\n") }, null, 2)),
  text("Python", "key.py", (_, name, value) => `${name} = """${value}"""\n`),
  text(
    "Python strings",
    "keys.py",
    (_, name, value) => `${name} = (\n${eachLine(value, (line) => `    "${line}\\n"`)}\n)\n`,
  ),
  text("JavaScript", "key.js", (_, name, value) => `const ${camel(name)} = \`${value}\`;\n`),
  text(
    "JavaScript concatenation",
    "keys.js",
    (_, name, value) => `const ${camel(name)} =\n${eachLine(value, (line) => `  "${line}\\n" +`)}\n  "";\n`,
  ),
  text(
    "JavaScript list",
    "joined.js",
    (_, name, value) => `const ${camel(name)} = [\n${eachLine(value, (line) => `  '${line}',`)}\n].join("\\n");\n`,
  ),
  text(
    "Java",
    "Key.java",
    (_, name, value) => `String ${camel(name)} =\n${eachLine(value, (line) => `    "${line}\\n" +`)}\n    "";\n`,
  ),
  text(
    "C",
    "key.c",
    (_, name, value) => `static const char ${snake(name)}[] =\n${eachLine(value, (line) => `  "${line}\\r\\n"`)};\n`,
  ),
  text(
    "C continued",
    "key.h",
    (_, name, value) => `#define ${name} "${value.trimEnd().replaceAll("\n", "\\n\\\n")}"\n`,
  ),
  text("Go", "key.go", (_, name, value) => `var ${camel(name)} = []byte(\`${value}\`)\n`),
  text(
    "Ruby heredoc",
    "key.rb",
    (_, name, value) => `${name} = <<~PEM\n${eachLine(value, (line) => `  ${line}`)}\nPEM\n`,
  ),
  text("PHP", "key.php", (_, name, value) => `<?php\n$${camel(name)} = <<<PEM\n${value}PEM;\n`),
  text(
    "shell heredoc",
    "key.sh",
    (_, __, value) => `cat > /etc/key.pem <<'EOF'\n${value}EOF\nchmod 600 /etc/key.pem\n`,
  ),
  text(
    "Terraform heredoc",
    "key.tf",
    (_, name, value) => `  ${snake(name)} = <<-EOT\n${eachLine(value, (line) => `    ${line}`)}\n  EOT\n`,
  ),
  text("XML", "key.xml", (_, name, value) => `<${camel(name)}>\n${value}</${camel(name)}>\n`),
  text(
    "diff",
    "key.patch",
    (_, __, value) => `--- /dev/null\n+++ b/key.pem\n@@ -0,0 +1,27 @@\n${eachLine(value, (line) => `+${line}`)}\n`,
  ),
  text("comments", "key.conf", (_, __, value) => `${eachLine(value, (line) => `# ${line}`)}\n`),
  text("slashes", "key.ts", (_, __, value) => `${eachLine(value, (line) => `// ${line}`)}\n`),
  text("Markdown quote", "mail.md", (_, __, value) => `${eachLine(value, (line) => `> ${line}`)}\n`),
  text("INI", "key.ini", (_, name, value) => `${snake(name)} =\n${eachLine(value, (line) => `\t${line}`)}\n`),
  text("notebook", "key.ipynb", (_, __, value) =>
    JSON.stringify(
      {
        cells: [
          {
            cell_type: "code",
            source: eachLine(value, (line) => line)
              .split("\n")
              .map((line) => `${line}\n`),
          },
        ],
      },
      null,
      1,
    ),
  ),
  text(
    "Kubernetes data",
    "tls-secret.yaml",
    (_, __, value) =>
      `apiVersion: v1\nkind: Secret\nmetadata:\n  name: tls\ntype: kubernetes.io/tls\ndata:\n  tls.key: ${toBase64(value)}\n`,
  ),
  text("base64", "b64.env", (_, name, value) => `${name}_B64=${toBase64(value)}\n`),
  text("base64 in lines", "b64.txt", (_, __, value) => `${wrap(toBase64(value), 76)}\n`),
  text("percent-encoded", "key.url", (_, __, value) => `https://acme.io/?key=${encodeURIComponent(value)}\n`),
  binary("UTF-16LE with mark", "key-le.pem", (_, __, value) => wide(value, { mark: true, big: false })),
  binary("UTF-16BE", "key-be.pem", (_, __, value) => wide(value, { mark: false, big: true })),
  binary("gzip", "key.pem.gz", (_, __, value) => gzipSync(value)),
];
