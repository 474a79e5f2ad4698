import type { Marks } from "./tables.ts";

// What people may do in their organization (api.md, "Organizations"). Roles without and with a
// `manage` grant on the folder "granted": O owner, A admin, U auditor; M a member without a grant,
// Mr, Mw, Mm one with read, write, manage; S a suspended admin with a `manage` grant; I invited,
// and not joined; X another organization's owner; Y another one who names this organization in
// X-Coffer-Org. "ours" is an object of the organization, "other" belongs to another application or
// folder of it, "foreign" to an organization without any of them, "absent" does not exist.

export const personMarks: Marks = {
  "0": [400, "invalid_request"],
  "1": [401, "invalid_token"],
  "3": [403, "access_denied"],
  r: [403, "reauth_required"],
  "4": [404, "not_found"],
  "9": [409, "conflict"],
  "2": [412, "precondition_failed"],
};

/** The organization and who is in it. The last of all: who leaves. */
export const orgTable = `
                              O  O+ A  A+ U  U+ M  Mr Mw Mm S  I  X  Y
GET /api/org 200 -
  -                           .  .  .  .  .  .  .  .  .  .  3  4  .  3
GET /api/org/history 200 -
  -                           .  .  .  .  .  .  .  .  .  .  3  4  .  3
POST /api/org/history 201 history.trusted
  wrong                       0  0  0  0  3  3  3  3  3  3  3  4  0  3
GET /api/org/members/:user_id/heads 200 -
  member|owner                .  .  .  .  3  3  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  3  3  3  3  3  3  3  4  4  3
POST /api/org/invites/history 200 org.member.accepted
  own                         .  .  .  .  .  .  .  .  .  .  .  .  .  .
  ours|foreign                3  3  3  3  3  3  3  3  3  3  3  3  3  3
  absent                      4  4  4  4  4  4  4  4  4  4  4  4  4  4
GET /api/org/members 200 -
  -                           .  .  .  .  .  .  .  .  .  .  3  4  .  3
PATCH /api/org/members/:user_id 200 org.member.role.changed
  member auditor              .  .  .  .  3  3  3  3  3  3  3  4  4  3
  member owner                .  .  3  3  3  3  3  3  3  3  3  4  4  3
  owner member                .  .  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent member       4  4  4  4  3  3  3  3  3  3  3  4  4  3
  member suspended            .  .  .  .  3  3  3  3  3  3  3  4  4  3
  owner suspended             .  .  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent suspended    4  4  4  4  3  3  3  3  3  3  3  4  4  3
DELETE /api/org/members/:user_id 204 org.member.removed
  member                      .  .  .  .  3  3  3  3  3  3  3  4  4  3
  owner                       .  .  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  3  3  3  3  3  3  3  4  4  3
GET /api/org/members/:user_id/sessions 200 -
  member|owner                .  .  .  .  3  3  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  3  3  3  3  3  3  3  4  4  3
DELETE /api/org/members/:user_id/sessions 204 session.revoked
  member                      .  .  .  .  3  3  3  3  3  3  3  4  4  3
  owner                       .  .  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  3  3  3  3  3  3  3  4  4  3
DELETE /api/org/members/:user_id/sessions/:sid 204 session.revoked
  member ours                 .  .  .  .  3  3  3  3  3  3  3  4  4  3
  member other|foreign|absent 4  4  4  4  3  3  3  3  3  3  3  4  4  3
  owner other                 .  .  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent ours|foreign 4  4  4  4  3  3  3  3  3  3  3  4  4  3
POST /api/org/invites/accept 200 org.member.accepted
  own                         .  .  .  .  .  .  .  .  .  .  .  .  .  .
  ours|foreign                3  3  3  3  3  3  3  3  3  3  3  3  3  3
  absent                      4  4  4  4  4  4  4  4  4  4  4  4  4  4
PUT /api/org/members/:user_id/travel-mode 200 user.travel_mode.enabled
  member on                   .  .  .  .  3  3  3  3  3  3  3  4  4  3
  owner on                    .  .  3  3  3  3  3  3  3  3  3  4  4  3
  self on                     .  .  .  .  3  3  3  3  3  3  3  4  .  3
  foreign|absent on           4  4  4  4  3  3  3  3  3  3  3  4  4  3
PUT /api/org/members/:user_id/travel-mode 200 user.travel_mode.disabled
  member off                  .  .  .  .  3  3  3  3  3  3  3  4  4  3
  owner off                   .  .  3  3  3  3  3  3  3  3  3  4  4  3
  self off                    r  r  r  r  3  3  3  3  3  3  3  4  r  3
  foreign|absent off          4  4  4  4  3  3  3  3  3  3  3  4  4  3
GET /api/org/invites 200 -
  -                           .  .  .  .  .  .  3  3  3  3  3  4  .  3
POST /api/org/invites 201 org.member.invited
  member                      .  .  .  .  3  3  3  3  3  3  3  4  .  3
  owner                       .  .  3  3  3  3  3  3  3  3  3  4  .  3
DELETE /api/org/invites/:id 204 org.member.removed
  ours                        .  .  .  .  3  3  3  3  3  3  3  4  4  3
  owner                       .  .  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  3  3  3  3  3  3  3  4  4  3
GET /api/users/:id/public_key 200 -
  self                        .  .  .  .  .  .  .  .  .  .  4  4  .  3
  member                      .  .  .  .  .  .  .  .  .  .  4  4  4  3
  foreign|absent              4  4  4  4  4  4  4  4  4  4  4  4  4  3
POST /api/orgs 201 -
  -                           .  .  .  .  .  .  .  .  .  .  .  .  .  .
DELETE /api/org/members/:user_id 204 org.member.removed
  self                        .  .  .  .  .  .  .  .  .  .  3  4  9  3
`;

/** Applications, their one-time tokens and machines. */
export const applicationTable = `
                                 O  O+ A  A+ U  U+ M  Mr Mw Mm S  I  X  Y
GET /api/org/applications 200 -
  -                              .  .  .  .  .  .  3  3  3  3  3  4  .  3
POST /api/org/applications 201 application.created
  -                              .  .  .  .  3  3  3  3  3  3  3  4  .  3
PATCH /api/org/applications/:id 200 application.updated
  ours                           .  .  .  .  3  3  3  3  3  3  3  4  4  3
  foreign|absent                 4  4  4  4  3  3  3  3  3  3  3  4  4  3
DELETE /api/org/applications/:id 204 application.deleted
  ours                           .  .  .  .  3  3  3  3  3  3  3  4  4  3
  foreign|absent                 4  4  4  4  3  3  3  3  3  3  3  4  4  3
GET /api/org/applications/:id/tokens 200 -
  ours                           .  .  .  .  .  .  3  3  3  3  3  4  4  3
  foreign|absent                 4  4  4  4  4  4  3  3  3  3  3  4  4  3
POST /api/org/applications/:id/tokens 201 token.issued
  ours none                      .  .  .  .  3  3  3  3  3  3  3  4  4  3
  ours granted                   3  .  3  .  3  3  3  3  3  3  3  4  4  3
  ours other|foreign|absent      3  3  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent none|granted    4  4  4  4  3  3  3  3  3  3  3  4  4  3
DELETE /api/org/applications/:id/tokens/:token_id 204 token.revoked
  ours ours                      .  .  .  .  3  3  3  3  3  3  3  4  4  3
  ours used                      9  9  9  9  3  3  3  3  3  3  3  4  4  3
  ours other|foreign|absent      4  4  4  4  3  3  3  3  3  3  3  4  4  3
  foreign|absent ours|foreign    4  4  4  4  3  3  3  3  3  3  3  4  4  3
GET /api/org/applications/:id/clients 200 -
  ours                           .  .  .  .  .  .  3  3  3  3  3  4  4  3
  foreign|absent                 4  4  4  4  4  4  3  3  3  3  3  4  4  3
DELETE /api/org/applications/:id/clients/:client_id 204 client.revoked
  ours ours                      .  .  .  .  3  3  3  3  3  3  3  4  4  3
  ours other|foreign|absent      4  4  4  4  3  3  3  3  3  3  3  4  4  3
  foreign|absent ours|foreign    4  4  4  4  3  3  3  3  3  3  3  4  4  3
PUT /api/org/applications/:id/clients/:client_id/folders/:folder_id 200 client.grant.added
  ours ours granted              3  .  3  .  3  3  3  3  3  .  3  4  4  3
  ours ours other                3  3  3  3  3  3  3  3  3  3  3  4  4  3
  ours ours foreign|absent       4  4  4  4  3  3  4  4  4  4  3  4  4  3
  ours revoked granted           3  9  3  9  3  3  3  3  3  9  3  4  4  3
  ours other|foreign|absent granted  4  4  4  4  3  3  4  4  4  4  3  4  4  3
  foreign|absent ours|foreign granted|foreign  4  4  4  4  3  3  4  4  4  4  3  4  4  3
DELETE /api/org/applications/:id/clients/:client_id/folders/:folder_id 204 client.grant.removed
  ours ours granted              .  .  .  .  3  3  3  3  3  .  3  4  4  3
  ours ours other                4  4  4  4  3  3  3  3  3  3  3  4  4  3
  ours ours foreign|absent       4  4  4  4  3  3  4  4  4  4  3  4  4  3
  ours other|foreign|absent granted  4  4  4  4  3  3  4  4  4  4  3  4  4  3
  foreign|absent ours|foreign granted|foreign  4  4  4  4  3  3  4  4  4  4  3  4  4  3
`;
