-- The place in a trace that a delivery comes from, as W3C's header `traceparent` says it. Null where traces are off.
alter table deliveries add column traceparent text;
