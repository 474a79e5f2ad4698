-- Makes the role and the schema of one service. It may run again at any time, and by several at once.
-- Run it as a user who may create roles and schemas, in the database that Coffer has for itself:
--   PGOPTIONS="-c coffer.role=auth_sm -c coffer.schema=auth_sm -c coffer.password=…" \
--     psql "$OWNER_URL" --variable=ON_ERROR_STOP=1 --file=schema.sql
DO $$
DECLARE
  service_role text := current_setting('coffer.role');
  service_schema text := current_setting('coffer.schema');
BEGIN
  PERFORM pg_advisory_xact_lock(202374657);
  -- Only the roles of Coffer, and superusers, may connect or make anything.
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = service_role) THEN
    EXECUTE format('CREATE ROLE %I', service_role);
  END IF;
  EXECUTE format('ALTER ROLE %I LOGIN PASSWORD %L', service_role, current_setting('coffer.password'));
  -- Only a superuser may give a schema to a role that it does not belong to.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT %I TO CURRENT_USER', service_role);
  END IF;
  EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', service_schema, service_role);
  EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', current_database(), service_role);
  EXECUTE format('ALTER ROLE %I SET search_path = %I', service_role, service_schema);
  -- A transaction that stays open holds back everything that follows changes by transaction id.
  EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = %L', service_role, '15s');
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE format('ALTER ROLE %I SET transaction_timeout = %L', service_role, '5min');
  END IF;
  -- Without this extension searches by title are slower.
  BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
  EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'the extension pg_trgm was not made: %', SQLERRM;
  END;
END
$$;
