import { memberStatuses, roles } from "@coffer/contract";
import { type CommandRow, confirmOptions, type OptionRow, otpOptions, personOptions } from "../command-row.ts";

const member = "<member>";
const endOptions: readonly OptionRow[] = [
  { flags: "--end <id>", description: "end this session" },
  { flags: "--end-all", description: "end every session of the member" },
];

export const peopleRows: readonly CommandRow[] = [
  {
    name: "invite create",
    args: "<email>",
    summary: "invite a person into the organization; prints the invitation once",
    examples: ["coffer invite create bob@example.com", "coffer invite create eve@example.com --role auditor"],
    options: [
      { flags: "--role <role>", description: "what the person will be", choices: roles, preset: "member" },
      ...personOptions,
    ],
    load: async () => (await import("../commands/people/invite.ts")).createInvite,
  },
  {
    name: "invite ls",
    summary: "list the invitations that are open",
    examples: ["coffer invite ls"],
    options: personOptions,
    load: async () => (await import("../commands/people/invite.ts")).listInvites,
  },
  {
    name: "invite rm",
    args: "<invitation>",
    summary: "revoke an invitation, by its e-mail or id",
    examples: ["coffer invite rm bob@example.com"],
    options: personOptions,
    load: async () => (await import("../commands/people/invite.ts")).removeInvite,
  },
  {
    name: "invite accept",
    summary: "join the organization of an invitation, from stdin, COFFER_TOKEN or the terminal",
    examples: ["coffer invite accept", "coffer invite accept < invitation"],
    options: [
      { flags: "--password-file <file>", description: "while you travel: read the password from a file's first line" },
      ...otpOptions,
      ...personOptions,
    ],
    load: async () => (await import("../commands/people/invite.ts")).acceptInvite,
  },
  {
    name: "member ls",
    summary: "list who is in the organization",
    examples: ["coffer member ls"],
    options: personOptions,
    load: async () => (await import("../commands/people/member.ts")).listMembers,
  },
  {
    name: "member set",
    args: member,
    summary: "change a member's (id, e-mail or name) role or status",
    examples: [
      "coffer member set bob@example.com --role admin",
      "coffer member set eve@example.com --status suspended",
    ],
    options: [
      { flags: "--role <role>", description: "what the member is from now on", choices: roles },
      { flags: "--status <status>", description: "whether the member may act", choices: memberStatuses },
      ...personOptions,
    ],
    load: async () => (await import("../commands/people/member.ts")).setMember,
  },
  {
    name: "member rm",
    args: member,
    summary: "end a member's access at once; with yourself leave",
    examples: ["coffer member rm bob@example.com"],
    options: [
      { flags: "--force", description: "also the only manager of some folders, which are read-only then" },
      ...personOptions,
    ],
    load: async () => (await import("../commands/people/member.ts")).removeMember,
  },
  {
    name: "member confirm",
    args: member,
    summary: "compare the words of a member that the organization's history does not name, and confirm",
    examples: ["coffer member confirm bob@example.com"],
    options: [
      {
        flags: "--role <role>",
        description: "with --fingerprint: that the member is an owner or admin",
        choices: roles,
      },
      ...confirmOptions,
      ...personOptions,
    ],
    load: async () => (await import("../commands/people/member.ts")).confirmMember,
  },
  {
    name: "member cut",
    args: "<member-id> <resource>",
    summary: "correct how far a former member's signatures count, where the service named a wrong entry",
    examples: [
      "coffer member cut 0197a1c2-… folder:0197a1c3-…",
      "coffer member cut 0197a1c2-… vault:0197a1c4-… --entry 5:ab12…",
    ],
    options: [
      { flags: "--entry <number:hash>", description: "what others have verified; else what this device has verified" },
      ...personOptions,
    ],
    load: async () => (await import("../commands/people/member.ts")).cutMember,
  },
  {
    name: "member sessions",
    args: member,
    summary: "list where a member is logged in, and end sessions within a second",
    examples: ["coffer member sessions bob@example.com", "coffer member sessions bob@example.com --end-all"],
    options: [...endOptions, ...personOptions],
    load: async () => (await import("../commands/people/member.ts")).memberSessions,
  },
  {
    name: "member key",
    args: member,
    summary: "print the fingerprint of a member's public key, to compare with the member",
    examples: ["coffer member key bob@example.com"],
    options: personOptions,
    load: async () => (await import("../commands/people/member.ts")).memberKey,
  },
];
