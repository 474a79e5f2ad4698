-- The facts of each event of Stripe that was received: of the five types that are used, once by its id. Nothing is updated
-- or deleted. The plan of an organization is computed from these rows, so the order of arrival does not matter.
-- org_id: as the event's own metadata names it. status, prices, period_end: of events about a subscription.
-- created: when Stripe made the event, in Unix seconds.
CREATE TABLE stripe_events (
  id text PRIMARY KEY,
  type text NOT NULL,
  created bigint NOT NULL,
  subscription_id text,
  customer_id text,
  org_id uuid,
  status text,
  prices json,
  period_end timestamptz,
  received_at timestamptz NOT NULL
);
CREATE INDEX stripe_events_subscription ON stripe_events (subscription_id) WHERE subscription_id IS NOT NULL;
CREATE INDEX stripe_events_customer ON stripe_events (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX stripe_events_org ON stripe_events (org_id) WHERE org_id IS NOT NULL;

-- The plan that was reported last for an organization, and with which version.
-- grace_ends_at: when the plan changes without a further event. prices_digest: by which price table it was computed.
CREATE TABLE org_plans (
  org_id uuid PRIMARY KEY,
  plan text NOT NULL CHECK (plan IN ('free', 'team', 'business', 'enterprise')),
  version bigint NOT NULL,
  grace_ends_at timestamptz,
  prices_digest text NOT NULL
);
CREATE INDEX org_plans_grace ON org_plans (grace_ends_at) WHERE grace_ends_at IS NOT NULL;

-- Graces whose end is recorded in the audit. past_due_since: Unix seconds.
CREATE TABLE ended_graces (
  subscription_id text NOT NULL,
  past_due_since bigint NOT NULL,
  PRIMARY KEY (subscription_id, past_due_since)
);
