-- The days on which a schedule's work is not done, and what becomes of it then: JSON text.
alter table tuntas.schedule add column holidays text;
