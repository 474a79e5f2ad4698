-- The plan that billing-webhook reported for an organization, which may not exist yet. `version` only grows. An organization
-- without a row is free. `orgs.plan` is what versions before this one wrote and read; nothing reads it any more.
CREATE TABLE org_plans (
  org_id uuid PRIMARY KEY,
  plan text NOT NULL CHECK (plan IN ('free', 'team', 'business', 'enterprise')),
  version bigint NOT NULL
);
