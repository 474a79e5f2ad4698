import type { Secret } from "@coffer/sdk";
import t from "tap";
import { folderVariables } from "../../src/run/folder-variables.ts";

const holding = (title: string, field: string): Secret[] => [
  { title, fields: { [field]: "s3cret-value" } } as unknown as Secret, // only what is read of it
];

/** Title and field of a name that a program or the loader obeys. */
const dangerous: readonly (readonly [string, string, string])[] = [
  ["ld", "preload", "LD_PRELOAD"],
  ["LD", "Library Path", "LD_LIBRARY_PATH"],
  ["dyld", "insert-libraries", "DYLD_INSERT_LIBRARIES"],
  ["node", "options", "NODE_OPTIONS"],
  ["Node.Options", "", "NODE_OPTIONS_"],
  ["node", "extra/ca/certs", "NODE_EXTRA_CA_CERTS"],
  ["bash", "env", "BASH_ENV"],
  ["python", "path", "PYTHON_PATH"],
  ["PYTHONPATH", "x", "PYTHONPATH_X"],
  ["perl5opt", "x", "PERL5OPT_X"],
  ["rubyopt", "x", "RUBYOPT_X"],
  ["java tool", "options", "JAVA_TOOL_OPTIONS"],
  ["git", "ssh_command", "GIT_SSH_COMMAND"],
  ["https", "proxy", "HTTPS_PROXY"],
  ["all", "proxy", "ALL_PROXY"],
  ["ssl_cert", "file", "SSL_CERT_FILE"],
  ["coffer", "url", "COFFER_URL"],
  ["maven", "opts", "MAVEN_OPTS"],
  ["rustc", "wrapper", "RUSTC_WRAPPER"],
  ["coreclr", "profiler/path", "CORECLR_PROFILER_PATH"],
  ["bun", "options", "BUN_OPTIONS"],
  ["tar", "options", "TAR_OPTIONS"],
  ["rsync", "rsh", "RSYNC_RSH"],
  ["makeflags", "", "MAKEFLAGS_"],
  ["go", "flags", "GO_FLAGS"],
  ["java", "home", "JAVA_HOME"],
  ["aws", "config file", "AWS_CONFIG_FILE"],
  ["aws", "pager", "AWS_PAGER"],
  ["aws", "endpoint url s3", "AWS_ENDPOINT_URL_S3"],
  ["xdg", "config home", "XDG_CONFIG_HOME"],
  ["cargo target x86", "runner", "CARGO_TARGET_X86_RUNNER"],
  ["tf cli", "args", "TF_CLI_ARGS"],
  ["caml ld", "library path", "CAML_LD_LIBRARY_PATH"],
  ["gst", "plugin path", "GST_PLUGIN_PATH"],
  ["dotnet", "additional deps", "DOTNET_ADDITIONAL_DEPS"],
  ["krb5", "config", "KRB5_CONFIG"],
];

void t.test("a name that changes how programs load or connect is refused, without the value", (t) => {
  for (const [title, field, name] of dangerous) {
    const expected = !name.endsWith("_");
    const set = () => folderVariables(holding(title, field));
    if (!expected) t.same([...set().keys()], [name], "only the loader's own spelling has an effect");
    else
      t.throws(set, { exitCode: 2, message: new RegExp(`^(?!.*s3cret).* ${name},.*--prefix.*--allow-name ${name}`) });
  }
  for (const [title, field, name] of [
    ["database", "password", "DATABASE_PASSWORD"],
    ["aws", "secret access key", "AWS_SECRET_ACCESS_KEY"],
    ["aws", "session token", "AWS_SESSION_TOKEN"],
    ["cargo", "registry token", "CARGO_REGISTRY_TOKEN"],
    ["tf var", "token", "TF_VAR_TOKEN"],
  ] as const)
    t.same([...folderVariables(holding(title, field)).keys()], [name]);
  t.end();
});

void t.test("what is looked at is the name that is set, with its prefix, in any case", (t) => {
  const names = (title: string, field: string, prefix: string, allowName: string[] = []) => [
    ...folderVariables(holding(title, field), { prefix, allowName }).keys(),
  ];
  t.same(names("ld", "preload", "APP_"), ["APP_LD_PRELOAD"]);
  for (const [title, field, prefix] of [
    ["preload", "x", "LD_"],
    ["options", "x", "ld_"],
    ["x", "preload", "Dyld_"],
    ["https", "proxy", "app_"],
    ["x", "y", "GIT_"],
  ] as const)
    t.throws(() => names(title, field, prefix), { exitCode: 2, message: /changes how programs load/ }, prefix);
  t.same(names("https", "proxy", "app_", ["app_HTTPS_PROXY"]), ["app_HTTPS_PROXY"]);
  t.throws(() => names("https", "proxy", "", ["https_proxy"]), { exitCode: 2, message: /load/ }, "the very name");
  t.throws(() => names("ld", "preload", "", ["LD_AUDIT"]), { exitCode: 2, message: /load/ });
  for (const prefix of ["1", "A B", "A=", "A\n", "Ä"])
    t.throws(() => names("a", "b", prefix), { exitCode: 2, message: /--prefix takes/ });
  t.same(names("1", "x", ""), ["_1_X"]);
  t.same(names("1", "x", "A"), ["A1_X"]);
  t.end();
});

void t.test("two fields that would be one variable are refused", (t) => {
  const secrets = [...holding("a b", "c"), ...holding("a", "b c")];
  t.throws(() => folderVariables(secrets), { exitCode: 2, message: /two fields would be A_B_C/ });
  t.end();
});
