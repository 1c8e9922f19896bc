-- A deactivation mail that the mail server refuses for good is given up in the end, and counted here.
alter table deactivations add column mail_failed_at timestamptz, add column mail_error text;
