import { userInfo } from 'node:os'
import { Client, type ClientConfig, type QueryResultRow } from 'pg'
import { parse, type ConnectionOptions } from 'pg-connection-string'
import pgPass from 'pgpass'
import { UserError } from '../model/user-error.ts'
import { explainHubError } from './explain-error.ts'
import { SCHEMA_VERSION } from './schema.ts'

/** Time limits, in milliseconds. Nothing waits for a hub longer than this. */
const CONNECT_MS = 10_000
const STATEMENT_MS = 120_000
const IDLE_IN_TRANSACTION_MS = 60_000
const LOCK_MS = 30_000
/** The oldest PostgreSQL that knows all that the schema uses. */
const POSTGRES_MIN = 150_000

/** A connection to a hub. All statements have time limits, and all errors are sentences. */
export interface Hub {
  /** @throws UserError */
  rows<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** The number of rows that a statement changed. @throws UserError */
  change(sql: string, values?: readonly unknown[]): Promise<number>
  close(): Promise<void>
  /** Runs `act` in one transaction. */
  transaction<Result>(act: () => Promise<Result>): Promise<Result>
}

export interface HubFacts {
  readonly salt: string
  /** The role of this connection. */
  readonly role: string
}

/** Connects, runs `act`, and disconnects. @throws UserError */
export async function withHub<Result>(url: string, act: (hub: Hub) => Promise<Result>): Promise<Result> {
  const hub = await openHub(url)
  return act(hub).finally(() => hub.close())
}

/**
 * @param url `postgres://user@host/database`. Beyond this machine the certificate is verified, unless it says
 *   `sslmode=disable`
 * @throws UserError
 */
export async function openHub(url: string): Promise<Hub> {
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
    return hub
  } catch (error) {
    await hub.close()
    throw error
  }
}

const explained = <Result>(asked: Promise<Result>): Promise<Result> =>
  asked.catch((error: unknown) => {
    throw explainHubError(error)
  })

const hubOf = (client: Client): Hub => ({
  rows: async <Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []) =>
    (await explained(client.query<Row>(sql, [...values]))).rows,
  change: async (sql, values = []) => (await explained(client.query(sql, [...values]))).rowCount ?? 0,
  close: () => client.end().catch(() => undefined),
  async transaction(act) {
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

/** The facts of a hub that this program can use. @throws UserError `hub-missing`, `hub-newer` */
export async function readHub(hub: Hub): Promise<HubFacts> {
  const [row] = await hub.rows<HubFacts & { least: number }>(
    `select salt, current_user::text as role, least_program as least from cursordex.hub`,
  )
  if (row === undefined) throw new UserError('hub-missing', 'This database has no hub yet.', 'cursordex hub init')
  const { least, ...facts } = row
  if (least > SCHEMA_VERSION) {
    throw new UserError('hub-newer', 'The hub needs a newer cursordex.', 'Upgrade cursordex on this machine.')
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
