-- When a member's role began: an administrator whose role is younger than a journey does not end it. Null, as the version
-- before leaves it, means since `joined_at`.
ALTER TABLE memberships ADD COLUMN role_since timestamptz;
