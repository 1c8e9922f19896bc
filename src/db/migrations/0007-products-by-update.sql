-- For lists of the products that have changed since a time.

create index products_by_update on products (eshop_id, updated_at);
