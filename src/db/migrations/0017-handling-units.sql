-- Nobody need say what is unloaded: a receiving whose announcement leaves it out has null.
alter table receivings alter column handling_units drop not null;
