import { userInfo } from 'node:os'
import { Client, type ClientConfig, type QueryResultRow } from 'pg'
import { parse, type ConnectionOptions } from 'pg-connection-string'
import pgPass from 'pgpass'
import { UserError } from '../model/user-error.ts'
import { explainHubError } from './explain-error.ts'
import { SCHEMA_VERSION, steps } from './schema.ts'

/** Time limits, in milliseconds. Nothing waits for a hub longer than this. */
const CONNECT_MS = 10_000
const STATEMENT_MS = 120_000
const IDLE_IN_TRANSACTION_MS = 60_000
const LOCK_MS = 30_000
/** The oldest PostgreSQL that knows all that the schema uses. */
const POSTGRES_MIN = 150_000

/** A connection to a hub. */
export type Hub = ReturnType<typeof hubOf>

export interface HubFacts {
  readonly salt: string
  /** The role of this connection. */
  readonly role: string
}

/**
 * Connects, runs `act`, and disconnects.
 * @param url `postgres://user@host/database`. Beyond this machine the certificate is verified, unless it says
 *   `sslmode=disable`
 * @throws UserError
 */
export async function withHub<Result>(url: string, act: (hub: Hub) => Promise<Result>): Promise<Result> {
  const client = new Client({
    ...connectionOf(url),
    application_name: 'cursordex',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + 5000,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
  })
  // A connection may be cut between two statements: the next one reports it.
  client.on('error', () => undefined)
  const hub = hubOf(client)
  try {
    await explained(client.connect())
    const [version] = await hub.rows<{ number: number }>(`select current_setting('server_version_num')::int as number`)
    if (version !== undefined && version.number < POSTGRES_MIN) {
      const text = `The server is PostgreSQL ${Math.floor(version.number / 10_000)}, and a hub needs version 15 or later.`
      throw new UserError('hub-too-old', text, 'Upgrade the server, or use another one.')
    }
    await upgrade(hub)
    return await act(hub)
  } finally {
    await hub.close()
  }
}

/** Two programs may make or upgrade the schema at the same time. */
export const ALONE = `select pg_advisory_xact_lock(hashtext('cursordex hub init'))`
/** For the role that owns the schema, and for no other. */
const IS_OWNED = `
select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where nspname = 'cursordex' and relname = 'hub' and pg_has_role(nspowner, 'usage')
`
const VERSION = `select schema_version as version from cursordex.hub`

/** Upgrades the schema, if this role owns it. Nobody else can. */
async function upgrade(hub: Hub): Promise<void> {
  const missing = async (): Promise<readonly string[]> => {
    const [found] = await hub.rows<{ version: number }>(VERSION)
    return steps.slice((found?.version ?? SCHEMA_VERSION) - 1)
  }
  if ((await hub.rows(IS_OWNED)).length === 0 || (await missing()).length === 0) return
  await hub.transaction(async () => {
    await hub.rows(ALONE)
    for (const step of await missing()) await hub.change(step)
  })
}

const explained = <Result>(asked: Promise<Result>): Promise<Result> =>
  asked.catch((error: unknown) => {
    throw explainHubError(error)
  })

/** All statements have time limits, and all errors are sentences. */
const hubOf = (client: Client) => ({
  /** @throws UserError */
  rows: async <Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await explained(client.query<Row>(sql, [...values]))).rows,
  /** The number of rows that a statement changed. @throws UserError */
  change: async (sql: string, values: readonly unknown[] = []): Promise<number> =>
    (await explained(client.query(sql, [...values]))).rowCount ?? 0,
  close: (): Promise<void> => client.end().catch(() => undefined),
  /** Runs `act` in one transaction. */
  async transaction<Result>(act: () => Promise<Result>): Promise<Result> {
    await explained(client.query('begin'))
    try {
      const result = await act()
      await explained(client.query('commit'))
      return result
    } catch (error) {
      await client.query('rollback').catch(() => undefined)
      throw error
    }
  },
})

/** The facts of a hub that this program can use. @throws UserError `hub-missing`, `hub-newer`, `hub-older` */
export async function readHub(hub: Hub): Promise<HubFacts> {
  const [row] = await hub.rows<HubFacts & { least: number; version: number }>(
    `select salt, current_user::text as role, least_program as least, schema_version as version from cursordex.hub`,
  )
  if (row === undefined) throw new UserError('hub-missing', 'This database has no hub yet.', 'cursordex hub init')
  const { least, version, ...facts } = row
  if (least > SCHEMA_VERSION) {
    throw new UserError('hub-newer', 'The hub needs a newer cursordex.', 'Upgrade cursordex on this machine.')
  }
  if (version < SCHEMA_VERSION) {
    const text = `The hub has version ${version} of its schema, and this cursordex needs version ${SCHEMA_VERSION}.`
    throw new UserError('hub-older', text, 'Its owner upgrades it: cursordex hub init')
  }
  return facts
}

function connectionOf(url: string): ClientConfig {
  const { host, port, user, password, database, ssl } = parseUrl(url)
  const name = user || userInfo().username
  const place = { host: host || 'localhost', port: Number(port || 5432), user: name, database: database || name }
  // From the file of passwords. Without one the server is asked without a password, and refuses it.
  const readPassword = (): Promise<string> => new Promise((resolve) => pgPass(place, (found) => resolve(found ?? '')))
  const mode = modeOf(url)
  const isLocal = /^(\/.*|localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)?$/.test(host ?? '')
  return {
    ...place,
    password: password || readPassword,
    ssl:
      mode === 'disable' || (isLocal && mode === undefined)
        ? false
        : { rejectUnauthorized: true, ...(typeof ssl === 'object' && ssl.ca ? { ca: ssl.ca } : {}) },
  }
}

const modeOf = (url: string): string | undefined => /[?&]sslmode=([^&]*)/.exec(url)?.[1]

function parseUrl(url: string): ConnectionOptions {
  try {
    // The package has other rules for this word: some of its modes verify nothing.
    if (/^(postgres(ql)?|socket):/.test(url)) return parse(url.replaceAll(/([?&])sslmode=[^&]*/g, '$1'))
  } catch {
    // The error of the package may contain the password.
  }
  const hint = 'Write it like postgres://user@host/database'
  throw new UserError('hub-url', 'hub.url is not the address of a PostgreSQL.', hint, { exitCode: 2 })
}
