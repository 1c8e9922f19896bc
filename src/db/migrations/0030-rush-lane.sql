-- The rush lane: first attempts of many deliveries, made together by one workflow.

-- A batch that has begun. Its row is kept for a while after its end: the counts are told to its workflow.
create table batches (
  id uuid primary key,
  -- The execution that may begin attempts: one that Temporal has given up, but that still runs, may not.
  run uuid not null,
  delivered integer not null default 0,
  handed_back integer not null default 0,
  finished_at timestamptz
);
create index batches_finished on batches (finished_at) where finished_at is not null;

alter table deliveries
  -- The batch that makes its first attempt, or made it.
  add column batch_id uuid,
  -- A batch gave it back: its next attempts are made by a workflow of its own.
  add column handed_back_at timestamptz;
