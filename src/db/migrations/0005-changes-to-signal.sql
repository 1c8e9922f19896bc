-- The changes that Temporal must learn of besides deliveries.

-- Written in the transaction of the change. A change to a webhook is passed on to its open deliveries, in the order
-- of their ids. A further change waits for the one under way, and covers all that come until it begins itself.
create table changes_to_signal (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('webhookChanged', 'orderReleaseChanged')),
  eshop_id integer not null,
  webhook_id integer,
  eshop_order_id text,
  -- Changes are passed on in the order of these times, and do not wait for them. For a release it is the deadline, a
  -- minute before the order is due.
  due_at timestamptz not null default now(),
  -- The last delivery that was signaled; the nil UUID before the first, null before the change has begun.
  signaled_id uuid,
  -- A pause has begun: only the orderings of the e-shop's records are settled, and no workflow has to look at it.
  ordering_only boolean not null default false,
  claimed_until timestamptz,
  created_at timestamptz not null default now()
);
-- The changes to a webhook: the one that is being passed on, and the next.
create index changes_to_signal_by_webhook on changes_to_signal (webhook_id) where kind = 'webhookChanged';
-- Changes of a kind are passed on in turn: each e-shop's first due before any e-shop's second.
create index changes_to_signal_by_eshop on changes_to_signal (kind, eshop_id, due_at, id);
-- Whether a pre-order has a change that has not been passed on.
create index changes_to_signal_by_order on changes_to_signal (eshop_id, eshop_order_id) where kind = 'orderReleaseChanged';
