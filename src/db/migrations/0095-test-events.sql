-- True of an event that an operator triggered: its record does not exist. Null of all others, whose rows are no longer for it.
alter table events add column test boolean;
