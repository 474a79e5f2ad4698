import { isUtf8 } from "node:buffer";
import { entropy } from "../checks/entropy.ts";
import type { Random } from "../examples/random.ts";
import type { Rule } from "../rule.ts";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const word = (random: Random, length: number): string => {
  for (;;) {
    const text = random.text(letters, length);
    if (isPassword(text)) return text;
  }
};

/** The word for a password, in the languages in which documentation is written, without accents. */
const passwordWords = [
  ...["password", "passwd", "passwort", "kennwort", "contrasena", "contrasenya", "motdepasse", "mot-de-passe"],
  ...["mot_de_passe", "senha", "palavra-passe", "parola", "wachtwoord", "losenord", "adgangskode", "passord"],
  ...["salasana", "haslo", "heslo", "jelszo", "parool", "slaptazodis", "lozinka", "geslo", "sifre", "parol"],
  ...["\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801", "\u5bc6\u78bc"],
  ...["\u30d1\u30b9\u30ef\u30fc\u30c9", "\ube44\ubc00\ubc88\ud638"],
].map((word) => word.normalize("NFD"));

/** Words that stand in for a password in documentation and tests. */
const standIn = new RegExp(
  [
    "^(?:pass|pwd|secret|user(?:name)?|test(?:ing)?|root|admin|postgres|mysql|guest|token|foo(?:bar)?|bar|[a-z]",
    "|\\*+|hunter2|redacted|removed|hidden|masked|secreto|geheim|segreto|segredo|usuario|benutzer|utilisateur",
    `|(?:[a-z_-]{1,24})?(?:${passwordWords.join("|")})|(?:my|your|some)[a-z_-]{0,20}\\d{0,4}|[$<{[(%:@].*)$`,
  ].join(""),
  "i",
);

/** Without accents, of a text of latin1 or of UTF-8 whose bytes were read as latin1. */
function withoutAccents(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, "latin1");
  const plain = bytes.toString(isUtf8(bytes) ? "utf8" : "latin1").replaceAll("\u0142", "l");
  return plain.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
}

/** The letters of a percent-encoded text, as documentation shows how to encode `p@ss:word`. */
function spelled(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/%40/g, "a").replace(/%[0-9A-Fa-f]{2}/g, "");
}

/** A password is no word that stands in for one. */
function isPassword(text: string): boolean {
  return (
    text.length >= 6 &&
    !standIn.test(withoutAccents(text)) &&
    !standIn.test(spelled(text)) &&
    entropy(text) >= 2.3 &&
    !/example|changeme|dummy|x{4}|0{4}|12345/i.test(text)
  );
}

/** Hosts of documentation. */
const docHost = /^(?:[^/\s]*\.)?(?:example(?:\.\w{2,6})?|host(?:name)?|server|domain\.com)(?=[:/?"'\s]|$)/i;

// Patterns write white space out: `\s` also matches the byte A0, which ends characters of UTF-8
// such as an accented a.
const databases =
  "postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|amqps?|mssql|sqlserver|clickhouse|cockroachdb|cassandra|nats";

export const genericRules: readonly Rule[] = [
  {
    id: "database-url",
    kind: "database URL with a password",
    description: "Address of a database or broker with user and password",
    reference: "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1",
    revoke: "change the password of the database user",
    keywords: [
      "postgres",
      "postgresql",
      "mysql",
      "mariadb",
      "mongodb",
      "mongodb+srv",
      "redis",
      "rediss",
      "amqp",
      "amqps",
      "mssql",
      "sqlserver",
      "clickhouse",
      "cockroachdb",
      "cassandra",
      "nats",
    ].map((name) => `${name}://`),
    anyCase: true,
    requires: "@",
    window: { before: 16, after: 400 },
    pattern: new RegExp(
      `(?<![A-Za-z0-9])(?:${databases}):\\\\?/\\\\?/[^\\t-\\r :@/"'\`<>\\\\]{0,64}:(?<secret>[^\\t-\\r :@/"'\`<>\\\\]{3,128})@(?<host>[A-Za-z0-9_.\\[-][^\\t-\\r "'\`<>]{0,100})`,
      "gdi",
    ),
    confidence: "medium",
    shown: /^$/,
    check: ({ secret, groups }) =>
      isPassword(secret) && !docHost.test(groups["host"] ?? "") ? { confidence: "medium" } : null,
    yields: true,
    examples: {
      positive: (random) => [
        `postgres://app:${word(random, 20)}@db.internal:5432/app`,
        `mongodb+srv://app:${word(random, 16)}@cluster0.mongodb.net/app`,
      ],
      negative: (random) => [
        "postgres://user:password@localhost/db",
        "postgres://app:${DB_PASSWORD}@db/app",
        `postgres://app@${word(random, 12)}/app`,
        `redis://default:changeme@cache:6379`,
        "redis://username:authpassword@127.0.0.1:6380/4",
        "mongodb://oplog_reader:oplog_reader_password@server1,server2/local",
        "rediss://default:REDACTED@cache.internal:25061",
        "postgres://app:p%40ss%3Aword@db.internal/app",
        ...["passwort", "contrasena", "motdepasse", "mein_kennwort"].map(
          (word) => `mysql://app:${word}@db.internal/app`,
        ),
      ],
    },
  },
  {
    id: "basic-auth-url",
    kind: "URL with a password",
    description: "HTTP, FTP, SSH or SMTP address with user and password",
    reference: "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1",
    revoke: "change the password of the account",
    keywords: [
      "http://",
      "https://",
      "ftp://",
      "ftps://",
      "sftp://",
      "ssh://",
      "smtp://",
      "smtps://",
      "ldap://",
      "ldaps://",
    ],
    anyCase: true,
    requires: "@",
    window: { before: 8, after: 300 },
    pattern:
      /(?<![A-Za-z0-9])(?:https?|s?ftps?|ssh|smtps?|ldaps?):\/\/[^\t-\r :@/"'`<>\\?#]{1,64}:(?<secret>[^\t-\r :@/"'`<>\\?#]{3,128})@(?<host>[A-Za-z0-9_.[-][^\t-\r "'`<>]{0,100})/dgi,
    confidence: "medium",
    shown: /^$/,
    check: ({ secret, groups }) =>
      isPassword(secret) && !docHost.test(groups["host"] ?? "") ? { confidence: "medium" } : null,
    yields: true,
    examples: {
      positive: (random) => [`https://deploy:${word(random, 20)}@git.internal/repo.git`],
      negative: () => [
        "https://user:password@example.com/",
        "https://localhost:8080/a@b",
        "https://deploy:${TOKEN}@git.internal/repo.git",
        "http://host:port/path@2x.png",
      ],
    },
  },
  {
    id: "json-web-token",
    kind: "JSON Web Token",
    description: "Signed JSON Web Token, which may have expired",
    reference: "https://www.rfc-editor.org/rfc/rfc7519",
    keywords: ["eyJ"],
    window: { before: 8, after: 4096 },
    pattern:
      /(?<![A-Za-z0-9_-])(?<secret>eyJ[A-Za-z0-9_-]{12,400}\.eyJ[A-Za-z0-9_-]{8,3000}\.[A-Za-z0-9_-]{20,700})(?![A-Za-z0-9_-])/dg,
    confidence: "low",
    yields: true,
    check: ({ secret }) => (isJwt(secret) ? { confidence: "low" } : null),
    examples: {
      positive: (random) => [jwtExample(random)],
      negative: (random) => [
        `eyJ${random.text(letters, 30)}.eyJ${random.text(letters, 30)}.${random.text(letters, 43)}`,
      ],
    },
  },
  {
    id: "generic-high-entropy",
    kind: "high-entropy value of a secret's name",
    description: "Random text that is assigned to a name such as password, token or api_key",
    reference: "https://cwe.mitre.org/data/definitions/798.html",
    keywords: [
      "password",
      "passwd",
      "secret",
      "token",
      "api_key",
      "apikey",
      "api-key",
      "access_key",
      "private_key",
      "credential",
    ],
    anyCase: true,
    window: { before: 8, after: 200 },
    pattern:
      /(?:passwo?r?d|secret|token|api[_-]?key|access_key|private_key|credentials?)[A-Za-z0-9_-]{0,20}["'`]?\s{0,4}(?:=>|:=|[:=])\s{0,4}["'`]?(?<secret>[A-Za-z0-9+/_=.~!@#$%^&*-]{16,128})(?![A-Za-z0-9+/_=.~!@#$%^&*-])/dgi,
    confidence: "medium",
    shown: /^$/,
    minEntropy: 3.5,
    yields: true,
    optIn: true,
    contextOnly: true,
    check: ({ secret }) =>
      /[0-9]/.test(secret) && /[A-Za-z]/.test(secret) && !/^[a-z]+[.(]|process\.env|^\$/.test(secret)
        ? { confidence: "medium" }
        : null,
    examples: {
      positive: (random) => [`api_key = "${word(random, 32)}"`],
      negative: () => ['password = "correct-horse-battery"', "token = process.env.TOKEN_OF_THE_SERVICE"],
    },
  },
];

/** Both parts are JSON, and the header names an algorithm. */
function isJwt(text: string): boolean {
  try {
    const [header, claims] = text.split(".").map((part) => Buffer.from(part, "base64url").toString("utf8"));
    const { alg } = JSON.parse(header ?? "") as { alg?: unknown }; // null and numbers throw or have none
    return typeof alg === "string" && typeof JSON.parse(claims ?? "") === "object";
  } catch {
    return false;
  }
}

function jwtExample(random: Random): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: word(random, 12) })}.${random.text(letters, 43)}`;
}
