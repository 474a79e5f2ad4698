-- How many codes of a second factor were wrong since `wrong_since`, for a day from then; after too many of them none is
-- looked at before `codes_after`.
ALTER TABLE totp
  ADD COLUMN wrong_codes integer NOT NULL DEFAULT 0,
  ADD COLUMN wrong_since timestamptz,
  ADD COLUMN codes_after timestamptz;
