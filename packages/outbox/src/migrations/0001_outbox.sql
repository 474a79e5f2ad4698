-- What a service has committed and others have not heard of yet. A row leaves when its delivery was acknowledged.
-- lane: who is waiting, so that one that is away does not hold up the others: "event", or the name of the responder.
-- not_before: when a row that failed for its own sake is tried again; problem: why it failed.
create table outbox (
  lane text not null,
  position bigint generated always as identity,
  id uuid not null,
  subject text not null,
  payload json not null,
  created_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  not_before timestamptz,
  problem text,
  primary key (lane, position)
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Rows live for moments: compressing them costs twice the time of writing them.
alter table outbox alter column payload set storage external;

-- Counts what is parked without reading what is not.
create index outbox_failed on outbox (attempts) where attempts > 0;
