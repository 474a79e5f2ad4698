-- Makes the role and the schema of one service. It may run again at any time, and by several at once.
-- Run it by psql (15 or newer) as a user who may create roles and schemas, in the database that Coffer has for itself:
--   ROLE_PASSWORD=… psql "$OWNER_URL" -v role=auth_sm -v schema=auth_sm -f schema.sql
\set ON_ERROR_STOP on
\getenv password ROLE_PASSWORD
BEGIN;
SELECT pg_advisory_xact_lock(202374657) \g /dev/null
SELECT NOT rolsuper AS may_not_give_away, current_setting('server_version_num')::int >= 170000 AS has_transaction_timeout
  FROM pg_roles WHERE rolname = current_user \gset
-- Only the roles of Coffer, and superusers, may connect or make anything.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SELECT format('CREATE ROLE %I', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
ALTER ROLE :"role" LOGIN PASSWORD :'password';
\if :may_not_give_away
-- Only a superuser may give a schema to a role that it does not belong to.
GRANT :"role" TO CURRENT_USER;
\endif
CREATE SCHEMA IF NOT EXISTS :"schema" AUTHORIZATION :"role";
SELECT format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', current_database(), :'role') \gexec
ALTER ROLE :"role" SET search_path = :"schema";
-- A transaction that stays open holds back everything that follows changes by transaction id.
ALTER ROLE :"role" SET idle_in_transaction_session_timeout = '15s';
\if :has_transaction_timeout
ALTER ROLE :"role" SET transaction_timeout = '5min';
\endif
COMMIT;
-- Without this extension searches by title are slower.
\set ON_ERROR_STOP off
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
