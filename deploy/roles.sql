-- The role that workers have: it reads and writes rows, and makes, changes or drops nothing.
--
-- An agent is code that nobody has read yet, and it runs beside the worker. Should one ever get hold of the
-- worker's address, it finds no superuser there, no files of the server and no other schema.
--
-- For psql, after `autodev engine migrate`, by the same role (the owner: only its own tables are its to grant, and
-- only what it makes later falls under its default privileges). As often as you like.
--
--   psql --set=password_file=worker-password --file=roles.sql "$OWNER_URL"
\set ON_ERROR_STOP on
BEGIN;

-- Without a word it has no right at all: it is no superuser, makes no database and no role.
SELECT 'CREATE ROLE autodev_worker LOGIN'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'autodev_worker')
\gexec

-- From a file: what is typed as an option is in everybody's list of processes.
\if :{?password_file}
  \set password `cat :'password_file'`
  ALTER ROLE autodev_worker PASSWORD :'password';
\endif

SELECT format('GRANT CONNECT ON DATABASE %I TO autodev_worker', current_database())
\gexec

-- Ours (autodev) and the engine's (dbos). USAGE lets it name what is in there; CREATE would let it add to it.
REVOKE CREATE ON SCHEMA autodev, dbos FROM PUBLIC, autodev_worker;
GRANT USAGE ON SCHEMA autodev, dbos TO autodev_worker;

-- Whatever it was given before goes first: it has what stands here, and no more.
REVOKE ALL ON ALL TABLES IN SCHEMA autodev, dbos FROM autodev_worker;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA autodev, dbos FROM autodev_worker;
-- No TRUNCATE, REFERENCES or TRIGGER: the last would be code that runs with the rights of others.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA autodev, dbos TO autodev_worker;
-- For columns that number their rows; setval would need UPDATE.
GRANT USAGE ON ALL SEQUENCES IN SCHEMA autodev, dbos TO autodev_worker;
-- The engine has functions that enqueue and send; ours has none.
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA dbos TO autodev_worker;

-- Which migrations have run is looked at by everybody, and written by the migration alone.
REVOKE INSERT, UPDATE, DELETE ON autodev.schema_version, dbos.dbos_migrations FROM autodev_worker;

-- The same for what later migrations make, so that workers go on while one runs.
ALTER DEFAULT PRIVILEGES IN SCHEMA autodev, dbos REVOKE ALL ON TABLES FROM autodev_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA autodev, dbos REVOKE ALL ON SEQUENCES FROM autodev_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA autodev, dbos
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO autodev_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA autodev, dbos GRANT USAGE ON SEQUENCES TO autodev_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA dbos GRANT EXECUTE ON FUNCTIONS TO autodev_worker;

COMMIT;
