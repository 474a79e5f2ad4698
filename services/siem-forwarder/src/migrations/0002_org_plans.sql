-- The plan of an organization, as auth-sm reported it. `version` only grows. An organization without a row is free.
CREATE TABLE org_plans (
  org_id uuid PRIMARY KEY,
  plan text NOT NULL CHECK (plan IN ('free', 'team', 'business', 'enterprise')),
  version bigint NOT NULL
);
