/**
 * The tables that a fleet shares, beside those of the engine that carries its runs. Only the
 * migration makes or changes tables; whoever works there needs no right to.
 *
 *  1. Steps are only ever added at the end, and what has run once is never changed.
 *  2. All of them run under one lock and in one transaction: ten at once are one.
 */
export const schemaSteps: readonly string[] = [
  `
  -- What was submitted, and who is at it. "wanted" counts how often somebody wanted it driven on,
  -- "driven" which of those the last drive has answered: nothing that is wanted is ever missed.
  CREATE TABLE autodev.runs (
    id          text PRIMARY KEY,
    kind        text NOT NULL,
    remote      text NOT NULL,
    plan        text NOT NULL,
    target      text NOT NULL DEFAULT '',
    submitted   jsonb NOT NULL,
    state       text NOT NULL DEFAULT 'opening',
    outcome     jsonb,
    asking      jsonb NOT NULL DEFAULT '[]',
    waits       text,
    lacks       jsonb,
    progress    jsonb NOT NULL DEFAULT '{}',
    is_open     boolean NOT NULL DEFAULT true,
    paused      boolean NOT NULL DEFAULT false,
    stopping    text,
    wanted      integer NOT NULL DEFAULT 0,
    driven      integer NOT NULL DEFAULT 0,
    version     text NOT NULL,
    epoch       integer NOT NULL DEFAULT 0,
    holder      jsonb,
    held_until  timestamptz,
    forgotten   boolean NOT NULL DEFAULT false,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now()
  );
  -- The same plan for the same branch is one run for as long as it is not over.
  CREATE UNIQUE INDEX runs_one_open ON autodev.runs (remote, kind, plan, target) WHERE is_open;
  CREATE INDEX runs_by_time ON autodev.runs (created_at);

  CREATE TABLE autodev.journal (
    run         text NOT NULL,
    seq         bigint NOT NULL,
    epoch       integer NOT NULL,
    hash        text NOT NULL,
    transition  jsonb NOT NULL,
    PRIMARY KEY (run, seq)
  );

  CREATE TABLE autodev.answers (
    run         text NOT NULL,
    decision    text NOT NULL,
    answer      jsonb NOT NULL,
    PRIMARY KEY (run, decision)
  );

  CREATE TABLE autodev.messages (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run         text NOT NULL,
    "to"        jsonb NOT NULL,
    message     jsonb NOT NULL
  );
  CREATE INDEX messages_by_run ON autodev.messages (run);

  -- What is told beside the history: an agent's lines, what it has used so far.
  CREATE TABLE autodev.news (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run         text NOT NULL,
    kind        text NOT NULL,
    news        jsonb NOT NULL,
    at          timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX news_by_run ON autodev.news (run, id);
  CREATE INDEX news_by_time ON autodev.news (at);

  CREATE TABLE autodev.workers (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    host        text NOT NULL,
    pid         integer NOT NULL,
    version     text NOT NULL,
    lane        text NOT NULL,
    jobs        integer NOT NULL,
    capabilities jsonb NOT NULL,
    state       text NOT NULL DEFAULT 'active',
    doing       jsonb NOT NULL DEFAULT '[]',
    started_at  timestamptz NOT NULL DEFAULT now(),
    beat_at     timestamptz NOT NULL DEFAULT now(),
    lease_ms    integer NOT NULL
  );

  -- Whoever was lost with a task: what takes one worker after the other with it is not done again.
  CREATE TABLE autodev.losses (
    task        text NOT NULL,
    worker      text NOT NULL,
    PRIMARY KEY (task, worker)
  );

  -- What all workers together may ask of an agent, and until when its account has nothing left.
  CREATE TABLE autodev.agents (
    agent       text PRIMARY KEY,
    at_once     integer,
    per_minute  integer,
    dollars_a_day numeric,
    limited_until timestamptz,
    reason      text
  );
  CREATE TABLE autodev.agent_uses (
    task        text PRIMARY KEY,
    agent       text NOT NULL,
    run         text NOT NULL,
    at          timestamptz NOT NULL DEFAULT now(),
    kept_until  timestamptz,
    ended_at    timestamptz,
    tokens      numeric NOT NULL DEFAULT 0,
    dollars     numeric NOT NULL DEFAULT 0
  );
  CREATE INDEX agent_uses_by_agent ON autodev.agent_uses (agent, at);
  CREATE INDEX agent_uses_of_run ON autodev.agent_uses (run) WHERE ended_at IS NULL;

  CREATE TABLE autodev.transcripts (
    run         text NOT NULL,
    phase       text NOT NULL,
    attempt     integer NOT NULL,
    part        text NOT NULL,
    reference   text NOT NULL,
    bytes       bigint NOT NULL,
    PRIMARY KEY (run, phase, attempt, part)
  );

  CREATE TABLE autodev.fleet (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    paused      boolean NOT NULL DEFAULT false
  );
  INSERT INTO autodev.fleet DEFAULT VALUES;
  `,
];

/** The schema that this release reads and writes. */
export const schemaVersion = schemaSteps.length;

/** Whoever migrates has it; "autodev" in ASCII, so that nobody else's lock is meant. */
export const migrationLock = 0x6175746f646576n.toString();
