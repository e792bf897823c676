import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { Client, type QueryResultRow } from 'pg'
import { parse } from 'pg-connection-string'
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
  /** Runs `act` in one transaction. @param mode for example `isolation level repeatable read, read only` */
  transaction<Result>(act: () => Promise<Result>, mode?: string): Promise<Result>
}

export interface HubFacts {
  readonly uuid: string
  readonly salt: string
  /** The role of this connection. */
  readonly role: string
}

/** A connection that has to be closed. */
export interface OpenHub extends Hub {
  close(): Promise<void>
}

/**
 * Connects, runs `act`, and disconnects.
 * @throws UserError
 */
export async function withHub<Result>(url: string, act: (hub: Hub) => Promise<Result>): Promise<Result> {
  const hub = await openHub(url)
  try {
    return await act(hub)
  } catch (error) {
    throw explainHubError(error)
  } finally {
    await hub.close()
  }
}

/**
 * @param url `postgres://user@host/database`. Beyond this machine the certificate is verified, unless it says
 *   `sslmode=disable`
 * @throws UserError
 */
export async function openHub(url: string): Promise<OpenHub> {
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
  const close = async (): Promise<void> => client.end().catch(() => undefined)
  try {
    await client.connect()
    const hub = hubOf(client)
    const [version] = await hub.rows<{ number: string }>(`select current_setting('server_version_num') as number`)
    if (Number(version?.number) < POSTGRES_MIN) throw tooOld(Number(version?.number))
    return { ...hub, close }
  } catch (error) {
    await close()
    throw explainHubError(error)
  }
}

function hubOf(client: Client): Hub {
  const hub: Hub = {
    rows: async <Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(sql, [...values])).rows,
    change: async (sql, values = []) => (await client.query(sql, [...values])).rowCount ?? 0,
    async transaction(act, mode = '') {
      await client.query(`begin ${mode}`)
      try {
        const result = await act()
        await client.query('commit')
        return result
      } catch (error) {
        await client.query('rollback').catch(() => undefined)
        throw error
      }
    },
  }
  return hub
}

/** The facts of a hub that this program can use. @throws UserError `hub-missing`, `hub-newer`, `hub-older` */
export async function readHub(hub: Hub): Promise<HubFacts> {
  const [row] = await hub.rows<HubFacts & { schema: number; least: number }>(
    `select uuid, salt, current_user::text as role, schema_version as schema, least_program as least from cursordex.hub`,
  )
  if (row === undefined) throw new UserError('hub-missing', 'This database has no hub yet.', 'cursordex hub init')
  const { schema, least, ...facts } = row
  if (least > SCHEMA_VERSION) {
    throw new UserError('hub-newer', 'The hub needs a newer cursordex.', 'Upgrade cursordex on this machine.')
  }
  if (schema < SCHEMA_VERSION) {
    throw new UserError(
      'hub-older',
      'The hub was made by an older cursordex.',
      'Its owner upgrades it: cursordex hub init',
    )
  }
  return facts
}

const tooOld = (version: number): UserError =>
  new UserError(
    'hub-too-old',
    `The server is PostgreSQL ${Math.floor(version / 10_000)}, and a hub needs version 15 or later.`,
    'Upgrade the server, or use another one.',
  )

function connectionOf(url: string) {
  let parsed: ReturnType<typeof parse>
  try {
    if (!/^(postgres(ql)?|socket):/.test(url)) throw new Error('not an address')
    parsed = parse(withoutSsl(url))
  } catch (error) {
    throw new UserError(
      'hub-url',
      'hub.url is not the address of a PostgreSQL.',
      'Write it like postgres://user@host/database',
      { exitCode: 2, cause: error },
    )
  }
  const { host, port, user, password, database } = parsed
  return {
    ...(host ? { host } : {}),
    ...(port ? { port: Number(port) } : {}),
    ...(user ? { user } : {}),
    password: password || (() => readPassword(parsed)),
    ...(database ? { database } : {}),
    ssl: sslOf(url, host ?? ''),
  }
}

/** From the file of passwords. Without one the server is asked without a password, and refuses it. */
const readPassword = ({ host, port, user, database }: ReturnType<typeof parse>): Promise<string> =>
  new Promise((resolve) => {
    const name = user ?? userInfo().username
    const connection = { host: host ?? 'localhost', port: Number(port ?? 5432), user: name, database: database ?? name }
    pgPass(connection, (password) => resolve(password ?? ''))
  })

/** The rules of the package for these words differ from ours. */
const withoutSsl = (url: string): string => url.replaceAll(/([?&])ssl\w*=[^&]*/g, '$1')
const wordOf = (url: string, name: string): string | null => {
  const found = new RegExp(`[?&]${name}=([^&]*)`).exec(url)?.[1]
  return found === undefined ? null : decodeURIComponent(found)
}

function sslOf(url: string, host: string) {
  const mode = wordOf(url, 'sslmode')
  const isLocal = host === '' || host.startsWith('/') || /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host)
  if (mode === 'disable' || (isLocal && mode === null)) return false
  const authority = wordOf(url, 'sslrootcert')
  return { rejectUnauthorized: true, ...(authority === null ? {} : { ca: readFileSync(authority, 'utf8') }) }
}
