-- Who may do what: people with a password and sessions, machines with keys. Of a password, a session and a key only
-- hashes are here.
create table tuntas.access_user (
  name text primary key,
  role text not null check (role in ('viewer', 'operator', 'approver', 'admin')),
  -- scrypt$N$r$p$salt$hash
  password text not null,
  created_at timestamptz not null,
  password_set_at timestamptz not null,
  signed_in_at timestamptz
);

create table tuntas.access_session (
  token_hash bytea primary key,
  user_name text not null references tuntas.access_user on delete cascade,
  from_address text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null
) with (fillfactor = 70);
create index access_session_user on tuntas.access_session (user_name);
create index access_session_expires on tuntas.access_session (expires_at);

-- Tries to sign in, counted by what they have in common, in all processes together.
create table tuntas.access_attempt (
  subject text primary key,
  tries integer not null,
  began_at timestamptz not null
) with (fillfactor = 70);
create index access_attempt_began on tuntas.access_attempt (began_at);

-- A key of a machine. Its secret is derived from the id and a secret of the installation, so that a signature can be
-- checked without any secret of a key being stored.
create table tuntas.access_key (
  id text primary key,
  name text not null,
  account text not null check (account ~ '^[0-9]{12}$'),
  -- JSON text: ["sqs:SendMessage@order-*", …]
  scopes text not null,
  secret_hash bytea not null,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_by text
);

-- The secret of the installation where TUNTAS_ACCESS_SECRET does not give one; one row.
create table tuntas.access_secret (
  single boolean primary key default true check (single),
  secret bytea not null,
  created_at timestamptz not null
);

-- Which fields of a payload only some may see, as code declares them.
create table tuntas.access_sensitive (
  kind text not null,
  name text not null,
  -- JSON text: ["customer.email", "lines.*.card"]
  paths text not null,
  primary key (kind, name)
);
