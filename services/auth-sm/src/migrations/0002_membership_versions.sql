-- Others keep a copy of memberships. Every change of one draws a greater number, its removal too, so that of two states
-- of one membership the newer is known. The default serves what is there, and code that knows nothing of versions.
CREATE SEQUENCE membership_versions AS bigint;
ALTER TABLE memberships ADD COLUMN version bigint NOT NULL DEFAULT nextval('membership_versions');
ALTER SEQUENCE membership_versions OWNED BY memberships.version;
