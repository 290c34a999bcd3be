-- What a payload is, as code declares it: which of its fields only some may see, and its JSON Schema, from which forms are
-- drawn.
alter table tuntas.access_sensitive rename to access_payload;
alter table tuntas.access_payload rename constraint access_sensitive_pkey to access_payload_pkey;
alter table tuntas.access_payload rename column paths to sensitive;
alter table tuntas.access_payload add column schema text;
