-- The results of restore drills, for the metrics: what a restored copy of the newest backup held, and what was wrong with it.
CREATE TABLE restore_drills (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ended_at timestamptz NOT NULL,
  -- The moment of the backup: what was committed before it is in it.
  backup_at timestamptz NOT NULL,
  seconds double precision NOT NULL,
  chains bigint NOT NULL,
  records bigint NOT NULL,
  -- Of all tables of all schemas.
  rows bigint NOT NULL,
  -- Null when the drill succeeded.
  problem text
);
