import type { Marks } from "./tables.ts";

// The Secrets Manager (api.md, "Errors": in the organization and not granted 403; another
// organization's or absent 404 for a uid, 403 for a folder). R may read the folder "granted", W may
// write it, N has no grant, F belongs to another organization, where it may write the objects
// "foreign" to the others; V is revoked, E has expired, T signs an expired token. "other" is in a
// folder without grants.

export const machineMarks: Marks = {
  "0": [400, "invalid_request"],
  "1": [401, "invalid_token"],
  "3": [403, "access_denied"],
  "4": [404, "secret_not_found"],
};

export const machineTable = `
                            R  W  N  F  V  E  T
GET /api/sm/v1/secrets 200 secret.listed
  none                      .  .  .  .  1  1  1
  granted                   .  .  3  3  1  1  1
  other|absent              3  3  3  3  1  1  1
  foreign                   3  3  3  .  1  1  1
GET /api/sm/v1/secrets/search 200 secret.searched
  none                      .  .  .  .  1  1  1
  granted                   .  .  3  3  1  1  1
  other|absent              3  3  3  3  1  1  1
  foreign                   3  3  3  .  1  1  1
GET /api/sm/v1/secrets/:uid 200 secret.read
  ours                      .  .  3  4  1  1  1
  other                     3  3  3  4  1  1  1
  foreign                   4  4  4  .  1  1  1
  absent                    4  4  4  4  1  1  1
GET /api/sm/v1/secrets/:uid/fields/:field 200 secret.field.read
  ours password             .  .  3  4  1  1  1
  ours absent               4  4  3  4  1  1  1
  other password|absent     3  3  3  4  1  1  1
  foreign password          4  4  4  .  1  1  1
  absent password           4  4  4  4  1  1  1
POST /api/sm/v1/notation 200 secret.notation.resolved
  granted ours              .  .  3  4  1  1  1
  granted other|absent      4  4  3  4  1  1  1
  other other|absent        3  3  3  4  1  1  1
  foreign foreign           4  4  4  .  1  1  1
  absent ours               4  4  4  4  1  1  1
POST /api/sm/v1/secrets 201 secret.created
  granted new               3  .  3  3  1  1  1
  granted ours|other        3  0  3  3  1  1  1
  granted foreign           3  .  3  3  1  1  1
  other|absent new          3  3  3  3  1  1  1
  foreign new               3  3  3  .  1  1  1
PUT /api/sm/v1/secrets/:uid 200 secret.updated
  ours                      3  .  3  4  1  1  1
  other                     3  3  3  4  1  1  1
  foreign                   4  4  4  .  1  1  1
  absent                    4  4  4  4  1  1  1
DELETE /api/sm/v1/secrets/:uid 204 secret.deleted
  ours                      3  .  3  4  1  1  1
  other                     3  3  3  4  1  1  1
  foreign                   4  4  4  .  1  1  1
  absent                    4  4  4  4  1  1  1
GET /api/sm/v1/folders 200 client.access.denied
  -                         .  .  .  .  1  1  1
GET /api/sm/v1/folders/:id/history 200 client.access.denied
  granted                   .  .  3  3  1  1  1
  other|absent              3  3  3  3  1  1  1
  foreign                   3  3  3  .  1  1  1
POST /api/sm/v1/folders/:id/history 201 history.joined
  granted wrong             0  0  3  3  1  1  1
  other|absent wrong        3  3  3  3  1  1  1
  foreign wrong             3  3  3  0  1  1  1
GET /api/sm/v1/client 200 client.access.denied
  -                         .  .  .  .  1  1  1
`;
