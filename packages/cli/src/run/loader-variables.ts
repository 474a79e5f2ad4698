/**
 * Variables that change how programs load code, which programs they start, or where they connect. A
 * writer of a folder chooses the names of its fields, and must not run code on a reader's machine
 * with them.
 */
const names = new Set(
  [
    "NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_REPL_EXTERNAL_MODULE",
    "ENV BASH_ENV BASHOPTS PROMPT_COMMAND PS4 IFS CDPATH PATH FPATH ZDOTDIR SHELL HOME TMPDIR TERM TERMCAP TERMINFO",
    "CLASSPATH DOTNET_STARTUP_HOOKS COMPLUS_VERSION RUSTC CC CXX LD AR MAKE INPUTRC EXINIT VIMINIT LESS LESSKEY",
    "KUBECONFIG ANSIBLE_CONFIG STARSHIP_CONFIG PSQLRC PGSERVICEFILE PGSYSCONFDIR RSYNC_CONNECT_PROG",
    "R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER GTK_MODULES GTK_PATH QT_PLUGIN_PATH QML_IMPORT_PATH",
    "GCONV_PATH GLIBC_TUNABLES LOCPATH HOSTALIASES",
    "OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES CURL_CA_BUNDLE CURL_HOME REQUESTS_CA_BUNDLE AWS_CA_BUNDLE",
    "EDITOR VISUAL PAGER BROWSER LESSOPEN LESSCLOSE MANPAGER SSH_ASKPASS SUDO_ASKPASS",
    "PHPRC PHP_INI_SCAN_DIR",
  ].flatMap((line) => line.split(" ")),
);
const patterns = [
  /^(LD|DYLD|GIT|SSL_CERT|COFFER|BASH_FUNC|NPM_CONFIG|LUA|DOCKER|XDG)_/,
  /^(PYTHON|PERL5|RUBY|GEM_|BUNDLE_)/,
  /^(CORECLR|COR)_(ENABLE_)?PROFIL/,
  /^AWS_(CONFIG|CREDENTIAL|ENDPOINT|PAGER|SHARED|WEB_IDENTITY)|_ENDPOINT_URL$/,
  /(OPTIONS|OPTS|FLAGS|_ARGS)$/,
  /_(CONFIG_FILE|EDITOR|HOME|LINKER|PAGER|PLUGINS?|PROXY|RSH|RUNNER|WRAPPER)$/,
];

/**
 * Whether a variable changes how programs load or connect, in any case: `http_proxy` works like
 * `HTTP_PROXY`, and some systems ignore the case.
 */
export function isLoaderVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return names.has(upper) || patterns.some((pattern) => pattern.test(upper));
}
