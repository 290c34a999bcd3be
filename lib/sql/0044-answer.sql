-- Finds the waiting task that a reference stands for, so that an answer can be announced with the change that it tells of,
-- and only while the task waits. The first token in the text is the command's own: quotes inside its other fields are escaped.
create index workflow_call_reference on tuntas.workflow_call (substring(command from '"token":"([^"]*)"')) where token_hash is not null;
