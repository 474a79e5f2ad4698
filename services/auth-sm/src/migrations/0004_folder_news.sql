-- What was told of folders in the last hour, for who may not have heard all of it: news are noted when the bus has taken
-- them. x is the transaction that noted them, which says against a watermark what may have been missed (docs/adr/0013).
-- Transaction ids are those of one server in one life of it: `server` is which.
CREATE TABLE folder_news (
  server text NOT NULL,
  x xid8 NOT NULL DEFAULT pg_current_xact_id(),
  position bigint GENERATED ALWAYS AS IDENTITY,
  news json NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (server, x, position)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1);
CREATE INDEX folder_news_age ON folder_news (noted_at);

-- Up to which x they were swept away: who asks for more than there is left has to start over.
CREATE TABLE folder_news_swept (
  server text PRIMARY KEY,
  x xid8 NOT NULL
);
