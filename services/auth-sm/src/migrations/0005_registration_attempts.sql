-- How often somebody has tried to finish what one start began: register/finish is bounded by register/start.
ALTER TABLE registration_starts ADD COLUMN attempts smallint NOT NULL DEFAULT 0;
