/** The largest packed chat, in bytes. It is in memory several times while it is pushed or pulled. */
export const OBJECT_BYTES_MAX = 16 * 1024 * 1024

/** The version of the schema. A hub says which version a program must at least know to use it. */
export const SCHEMA_VERSION = 2

/** The longest id, name or label, in bytes. */
export const NAME_BYTES_MAX = 1000
/** The largest number of a row. JavaScript knows no larger whole number exactly. */
export const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER

/**
 * The first version; `steps` lead to this one. Five plain tables. Privileges open a table to a role, and row-level security decides which rows the role sees and
 * writes. The policies of `chats` look only at `grants`, so that none needs itself.
 *
 * - A row's writer is bound by a foreign key to the machine's owner: nobody can write to a machine of somebody else.
 * - `chats` is not partitioned: the policies of a parent do not reach a partition that is asked by its own name.
 * - `object` is compressed already, so PostgreSQL keeps it as it is.
 */
export const tables = `
create schema if not exists cursordex;

create table cursordex.hub (
  uuid text primary key default gen_random_uuid()::text,
  salt text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  schema_version integer not null,
  least_program integer not null
);

create table cursordex.machines (
  uuid text primary key,
  owner name not null default current_user,
  label text not null,
  value text,
  counter bigint not null default 0,
  pushed_at timestamptz,
  unique (owner, label),
  unique (uuid, owner)
);

create table cursordex.chats (
  machine text not null,
  chat text not null,
  owner name not null default current_user,
  project text not null,
  sequence bigint not null,
  revision bigint not null,
  redaction integer not null,
  object_version integer not null,
  object bytea not null,
  primary key (machine, chat),
  foreign key (machine, owner) references cursordex.machines (uuid, owner)
);
alter table cursordex.chats alter column object set storage external;
create index chats_by_project on cursordex.chats (machine, project) include (chat, sequence);

create table cursordex.grants (
  role name not null,
  project text not null,
  push boolean not null default false,
  primary key (role, project)
);

create table cursordex.purged (
  machine text not null,
  owner name not null default current_user,
  chat text not null,
  message text,
  unique nulls not distinct (machine, chat, message),
  foreign key (machine, owner) references cursordex.machines (uuid, owner)
);

alter table cursordex.machines enable row level security;
alter table cursordex.chats enable row level security;
alter table cursordex.grants enable row level security;
alter table cursordex.purged enable row level security;

create policy own_rights on cursordex.grants for select
  using (role in (select rolname from pg_catalog.pg_roles where pg_catalog.pg_has_role(oid, 'usage')));

create policy readable on cursordex.chats for select using (
  owner = current_user
  or project in (select g.project from cursordex.grants g where not g.push)
  or exists (select from cursordex.grants g where not g.push and g.project = '*')
);
create policy pushed on cursordex.chats for insert
  with check (owner = current_user and exists (select from cursordex.grants g where g.push));
create policy changed on cursordex.chats for update using (owner = current_user)
  with check (owner = current_user and exists (select from cursordex.grants g where g.push));
create policy removed on cursordex.chats for delete using (owner = current_user);

create policy known on cursordex.machines for select
  using (owner = current_user or exists (select from cursordex.chats c where c.machine = machines.uuid));
create policy registered on cursordex.machines for insert
  with check (owner = current_user and exists (select from cursordex.grants g where g.push));
create policy counted on cursordex.machines for update using (owner = current_user) with check (owner = current_user);
create policy forgotten on cursordex.machines for delete using (owner = current_user);

create policy own_purges on cursordex.purged using (owner = current_user) with check (owner = current_user);

insert into cursordex.hub (schema_version, least_program) values (1, 1);
revoke all on schema cursordex from public;
`

/**
 * From one version to the next. They are never edited. A step keeps `least_program` while programs of the version before can
 * go on.
 */
export const steps: readonly string[] = [
  // What no program writes is refused. Rows that are there already are left: readers mark them. The right to push names
  // projects. And a row tells when its chat's id first came from this role, which no member can set.
  `
alter table cursordex.machines
  add constraint short_names check (octet_length(uuid) between 1 and ${NAME_BYTES_MAX}
    and octet_length(label) between 1 and ${NAME_BYTES_MAX} and octet_length(value) <= ${NAME_BYTES_MAX}) not valid;
alter table cursordex.chats
  add column first_at timestamptz not null default now(),
  add constraint short_names check (octet_length(chat) between 1 and ${NAME_BYTES_MAX}
    and octet_length(project) between 1 and ${NAME_BYTES_MAX}) not valid,
  add constraint whole_number check (sequence between 1 and ${SEQUENCE_MAX}) not valid,
  add constraint known_versions check (revision >= 0 and redaction >= 0 and object_version >= 1) not valid,
  add constraint packed_chat check (
    octet_length(object) <= ${OBJECT_BYTES_MAX} and substring(object from 1 for 2) = '\\x1f8b') not valid;

create function cursordex.note_first() returns trigger language plpgsql set search_path = '' as $$
begin
  if tg_op = 'UPDATE' and old.chat = new.chat and old.owner = new.owner then
    new.first_at := old.first_at;
  else
    new.first_at := clock_timestamp();
  end if;
  return new;
end $$;
revoke all on function cursordex.note_first() from public;
create trigger first_at before insert or update on cursordex.chats for each row execute function cursordex.note_first();

alter table cursordex.grants drop constraint grants_pkey, add primary key (role, project, push);
update cursordex.grants set project = '*' where push;
drop policy pushed on cursordex.chats;
drop policy changed on cursordex.chats;
create policy pushed on cursordex.chats for insert with check (owner = current_user
  and exists (select from cursordex.grants g where g.push and g.project in (chats.project, '*')));
create policy changed on cursordex.chats for update using (owner = current_user) with check (owner = current_user
  and exists (select from cursordex.grants g where g.push and g.project in (chats.project, '*')));

update cursordex.hub set schema_version = 2;
`,
]
