// The caller's own account belongs to no organization: every logged-in person gets the same
// response. See people.ts.

/** One's account. The last of all: the end of the session that asks. */
export const accountTable = `
                          O  O+ A  A+ U  U+ M  Mr Mw Mm S  I  X  Y
GET /api/account 200 -
  -                       .  .  .  .  .  .  .  .  .  .  .  .  .  .
POST /api/auth/password/start 200 -
  -                       .  .  .  .  .  .  .  .  .  .  .  .  .  .
POST /api/auth/password 200 user.password.changed
  none|wrong              r  r  r  r  r  r  r  r  r  r  r  r  r  r
POST /api/auth/totp 200 user.totp.enabled
  none|wrong              r  r  r  r  r  r  r  r  r  r  r  r  r  r
POST /api/auth/totp/verify 200 user.totp.enabled
  -                       9  9  9  9  9  9  9  9  9  9  9  9  9  9
DELETE /api/auth/totp 204 user.totp.disabled
  none|wrong              r  r  r  r  r  r  r  r  r  r  r  r  r  r
GET /api/account/keyring 200 -
  -                       4  4  4  4  4  4  4  4  4  4  4  4  4  4
PUT /api/account/keyring 200 -
  second                  2  2  2  2  2  2  2  2  2  2  2  2  2  2
  first                   .  .  .  .  .  .  .  .  .  .  .  .  .  .
GET /api/account/recovery 200 -
  -                       4  4  4  4  4  4  4  4  4  4  4  4  4  4
GET /api/account/travel-mode 200 -
  -                       .  .  .  .  .  .  .  .  .  .  .  .  .  .
PUT /api/account/travel-mode 200 user.travel_mode.disabled
  none|wrong              r  r  r  r  r  r  r  r  r  r  r  r  r  r
PUT /api/account/travel-mode 200 user.travel_mode.enabled
  on                      .  .  .  .  .  .  .  .  .  .  .  .  .  .
GET /api/auth/sessions 200 -
  -                       .  .  .  .  .  .  .  .  .  .  .  .  .  .
DELETE /api/auth/sessions/:id 204 session.revoked
  own                     .  .  .  .  .  .  .  .  .  .  .  .  .  .
  ours|foreign|absent     4  4  4  4  4  4  4  4  4  4  4  4  4  4
DELETE /api/auth/sessions 204 session.revoked
  others                  .  .  .  .  .  .  .  .  .  .  .  .  .  .
  none                    0  0  0  0  0  0  0  0  0  0  0  0  0  0
POST /api/auth/logout 204 -
  -                       .  .  .  .  .  .  .  .  .  .  .  .  .  .
`;
