-- Deliveries that a batch gave back to the queue, since their receivers had as much under way as they take.
alter table batches add column put_back integer not null default 0;
