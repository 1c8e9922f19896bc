-- Deliveries that an e-shop has asked for once more: few beside all, and found by the event that they carry again.
create table redeliveries (
  delivery_id uuid primary key,
  event_id uuid not null,
  webhook_id integer not null,
  -- The delivery that it was asked for by.
  redelivers uuid not null
);
create index redeliveries_of_event on redeliveries (event_id, webhook_id);

-- How a webhook was called before it was replaced: what it has been sent stays known.
create table webhook_forms (
  webhook_id integer not null,
  until timestamptz not null,
  url text not null,
  method text not null,
  payload_version text not null,
  parameters jsonb,
  primary key (webhook_id, until)
);
