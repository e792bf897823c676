import { UserError } from '../model/user-error.ts'

const LATER = 'Nothing is lost here. It is tried again at the next push or pull.'
const UNREACHABLE = 'The hub cannot be reached'

type Explanation = readonly [pattern: RegExp, code: string, what: string, hint: string]

/** Codes of PostgreSQL and Node, and what they mean for a hub. The first one that fits counts. */
const BY_CODE: readonly Explanation[] = [
  [
    /^28/,
    'hub-password',
    'The hub refused the role or its password',
    'Correct it in hub.url or in the file that PGPASSFILE names.',
  ],
  [/^3D000$/, 'hub-database', 'The hub has no database of this name', 'Correct hub.url.'],
  [/^(3F000|42P01)$/, 'hub-missing', 'This database has no hub yet', 'Its owner makes one: cursordex hub init'],
  [/^42501$/, 'hub-rights', 'The hub does not allow this', 'Its owner can: cursordex hub grant <role> --push'],
  [/^(53100|53200)$/, 'hub-full', 'The disk or the memory of the hub is full', LATER],
  // Labels are the only values that can be taken.
  [/^23505$/, 'hub-label-taken', 'The label of this machine is taken', 'Set another hub.machine.'],
  [/^55P03$/, 'hub-unreachable', 'Another push of this machine is at work', LATER],
  [
    /^(ERR_TLS|DEPTH_|SELF_SIGNED|UNABLE_TO|CERT_|HOSTNAME)/,
    'hub-certificate',
    'The certificate of the hub does not match',
    'Name its authority with sslrootcert in hub.url, or use the host name of the certificate.',
  ],
  // Cut, refused, no such host, no way there, too late, too many connections, or the server stops.
  [/^(E[A-Z]+|EAI_AGAIN|08...|25P03|53300|57...)$/, 'hub-unreachable', UNREACHABLE, LATER],
  [/^[0-9A-Z]{5}$/, 'hub-failed', 'The hub reported an error', LATER],
]

/** Errors of the package, which have no code. */
const BY_MESSAGE: readonly Explanation[] = [
  [
    /does not support SSL/,
    'hub-certificate',
    'The hub does not encrypt connections',
    'Turn TLS on there, or write sslmode=disable in hub.url if nobody can listen.',
  ],
  [
    /password must be a (non-empty )?string/,
    'hub-password',
    'The hub asks for a password',
    'Write it into the file that PGPASSFILE names, by default ~/.pgpass.',
  ],
  [
    /timeout|Connection terminated|not queryable|connection was closed|Client was closed/i,
    'hub-unreachable',
    UNREACHABLE,
    LATER,
  ],
]

export const hubNotSet = (): UserError =>
  new UserError('hub-not-set', 'No hub is set.', 'Set hub.url, for example postgres://user@host/database', {
    exitCode: 2,
  })

/** Whether a role has no right to do this. */
export const isRefusal = (error: unknown): boolean => error instanceof UserError && error.code === 'hub-rights'

/** Any error of a hub as one sentence with its remedy. Never contains the URL: it may contain a password. */
export function explainHubError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof UserError) return error
  const code = 'code' in error ? String(error.code) : ''
  const found =
    BY_CODE.find(([pattern]) => pattern.test(code)) ?? BY_MESSAGE.find(([pattern]) => pattern.test(error.message))
  if (found === undefined) return error
  const [, known, what, hint] = found
  return new UserError(known, `${what}: ${error.message.replace(/\.?\s*$/, '')}.`, hint, { cause: error })
}
