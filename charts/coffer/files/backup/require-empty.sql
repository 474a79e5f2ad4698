-- Refuses to restore over data, and beside services that run. Run it as the role of a service, with its schema as a setting:
--   PGOPTIONS="-c coffer.schema=auth_sm" psql "$COFFER_POSTGRES_URL" --file=require-empty.sql
DO $$
DECLARE
  service_schema text := current_setting('coffer.schema');
  others int := (SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid());
  relations int := (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = service_schema);
BEGIN
  IF others > 0 THEN
    RAISE EXCEPTION 'the role % has % other connections: scale the services to 0 first', current_user, others;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = service_schema) THEN
    RAISE EXCEPTION 'there is no schema %: run schema.sql first', service_schema;
  END IF;
  IF relations > 0 THEN
    RAISE EXCEPTION 'the schema % is not empty: a restore needs an empty one', service_schema;
  END IF;
END
$$;
