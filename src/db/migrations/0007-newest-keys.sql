-- outside a transaction
-- The planner takes the newest of indexes that seem equally good. While a table is small, the index by update seems as good as the
-- primary key, and a session keeps the plan: the check of a new line's foreign key then read all records of its e-shop.
-- pg_dump restores keys before other indexes, which undoes this, as it would any order in `0002-records.sql`.
drop index concurrently if exists orders_pkey_ccnew;
drop index concurrently if exists orders_pkey_ccold;
reindex index concurrently orders_pkey;
drop index concurrently if exists products_pkey_ccnew;
drop index concurrently if exists products_pkey_ccold;
reindex index concurrently products_pkey;
drop index concurrently if exists receivings_pkey_ccnew;
drop index concurrently if exists receivings_pkey_ccold;
reindex index concurrently receivings_pkey;
drop index concurrently if exists returns_pkey_ccnew;
drop index concurrently if exists returns_pkey_ccold;
reindex index concurrently returns_pkey;
