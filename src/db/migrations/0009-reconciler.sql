-- What the reconciler asks: which open records have passed their next step, and which of them it looked at lately.

-- Written by the reconciler alone: not to be looked at again before.
alter table deliveries add column check_at timestamptz;
alter table deactivations add column check_at timestamptz;
