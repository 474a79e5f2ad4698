// Folders and their secrets, for people (api.md, "Organizations"): see people.ts for who they are.
// An owner or admin manages every folder, and reads none and gives none away without a grant; an
// auditor sees metadata, whatever the grant.

/** Folders, and who holds their keys. */
export const folderTable = `
                              O  O+ A  A+ U  U+ M  Mr Mw Mm S  I  X  Y
GET /api/org/folders 200 -
  -                           .  .  .  .  .  .  .  .  .  .  3  4  .  3
POST /api/org/folders 201 folder.created
  new                         .  .  .  .  3  3  3  3  3  3  3  4  .  3
  granted|foreign             9  9  9  9  3  3  3  3  3  3  3  4  9  3
PATCH /api/org/folders/:id 200 folder.updated
  granted                     .  .  .  .  3  3  3  3  3  .  3  4  4  3
  other                       .  .  .  .  3  3  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  4  4  4  4  4  4  3  4  4  3
DELETE /api/org/folders/:id 204 folder.deleted
  granted                     9  9  9  9  3  3  3  3  3  9  3  4  4  3
  granted force               .  .  .  .  3  3  3  3  3  .  3  4  4  3
  other force                 .  .  .  .  3  3  3  3  3  3  3  4  4  3
  foreign|absent force        4  4  4  4  4  4  4  4  4  4  3  4  4  3
GET /api/org/folders/:id/members 200 -
  granted                     .  .  .  .  .  .  3  .  .  .  3  4  4  3
  other                       .  .  .  .  .  .  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  4  4  4  4  4  4  3  4  4  3
PUT /api/org/folders/:id/members/:user_id 200 folder.member.added
  granted member              3  .  3  .  3  3  3  3  3  .  3  4  4  3
  granted suspended|auditor   3  9  3  9  3  3  3  3  3  9  3  4  4  3
  granted foreign|absent      3  4  3  4  3  3  3  3  3  4  3  4  4  3
  other member                3  3  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent member|foreign  4  4  4  4  3  3  4  4  4  4  3  4  4  3
DELETE /api/org/folders/:id/members/:user_id 204 folder.member.removed
  granted reader              .  .  .  .  3  3  3  3  3  .  3  4  4  3
  granted member|foreign|absent  4  4  4  4  3  3  3  3  3  4  3  4  4  3
  other reader                4  4  4  4  3  3  3  3  3  3  3  4  4  3
  foreign|absent reader|foreign  4  4  4  4  4  4  4  4  4  4  3  4  4  3
GET /api/org/folders/:id/history 200 -
  granted                     .  .  .  .  3  3  3  .  .  .  3  4  4  3
  other                       .  .  .  .  3  3  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  4  4  4  4  4  4  3  4  4  3
POST /api/org/folders/:id/history 201 history.adopted
  granted wrong               3  0  3  0  3  3  3  3  3  0  3  4  4  3
  other wrong                 3  3  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent wrong        4  4  4  4  3  3  4  4  4  4  3  4  4  3
POST /api/org/folders/:id/rotate 200 folder.key.rotated
  granted present             3  .  3  .  3  3  3  3  3  .  3  4  4  3
  granted version|holder|secret  3  9  3  9  3  3  3  3  3  9  3  4  4  3
  other present               3  3  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent present      4  4  4  4  3  3  4  4  4  4  3  4  4  3
PUT /api/org/folders/:id/rotation/:rotation_id 200 folder.key.rotated
  granted absent present      3  .  3  .  3  3  3  3  3  .  3  4  4  3
  granted absent secret       3  9  3  9  3  3  3  3  3  9  3  4  4  3
  other absent present        3  3  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent absent present  4  4  4  4  3  3  4  4  4  4  3  4  4  3
`;

/** Secrets as people see them. */
export const folderSecretTable = `
                              O  O+ A  A+ U  U+ M  Mr Mw Mm S  I  X  Y
GET /api/org/folders/:id/secrets 200 secret.listed
  granted                     3  .  3  .  .  .  3  .  .  .  3  4  4  3
  other                       3  3  3  3  .  .  3  3  3  3  3  4  4  3
  foreign|absent              4  4  4  4  4  4  4  4  4  4  3  4  4  3
POST /api/org/folders/:id/secrets 201 secret.created
  granted new|foreign         3  .  3  .  3  3  3  3  .  .  3  4  4  3
  granted ours|other          3  0  3  0  3  3  3  3  0  0  3  4  4  3
  other new                   3  3  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent new          4  4  4  4  3  3  4  4  4  4  3  4  4  3
GET /api/org/folders/:id/secrets/:uid 200 secret.read
  granted ours                3  .  3  .  .  .  3  .  .  .  3  4  4  3
  granted other|foreign|absent  3  4  3  4  4  4  3  4  4  4  3  4  4  3
  other other                 3  3  3  3  .  .  3  3  3  3  3  4  4  3
  foreign|absent ours|foreign 4  4  4  4  4  4  4  4  4  4  3  4  4  3
PUT /api/org/folders/:id/secrets/:uid 200 secret.updated
  granted ours                3  .  3  .  3  3  3  3  .  .  3  4  4  3
  granted other|foreign|absent  3  4  3  4  3  3  3  3  4  4  3  4  4  3
  other ours|other            3  3  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent ours|foreign 4  4  4  4  3  3  4  4  4  4  3  4  4  3
DELETE /api/org/folders/:id/secrets/:uid 204 secret.deleted
  granted ours                3  .  3  .  3  3  3  3  .  .  3  4  4  3
  granted other|foreign|absent  3  4  3  4  3  3  3  3  4  4  3  4  4  3
  other ours|other            3  3  3  3  3  3  3  3  3  3  3  4  4  3
  foreign|absent ours|foreign 4  4  4  4  3  3  4  4  4  4  3  4  4  3
`;
