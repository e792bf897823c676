import { UserError } from '../model/user-error.ts'

const LATER = 'Nothing is lost here. It is tried again at the next push or pull.'

type Explanation = readonly [pattern: RegExp, code: string, what: string, hint: string]

/**
 * Errors of PostgreSQL and Node, as `<code> <message>`, and what they mean for a hub. Those of the package have no code.
 * The first pattern that fits counts.
 */
const EXPLANATIONS: readonly Explanation[] = [
  [
    /^28|password must be a (non-empty )?string/,
    'hub-password',
    'The hub refused the role or its password',
    'Correct it in hub.url or in the file that PGPASSFILE names, by default ~/.pgpass.',
  ],
  [/^3D000 /, 'hub-database', 'The hub has no database of this name', 'Correct hub.url.'],
  [/^(3F000|42P01) /, 'hub-missing', 'This database has no hub yet', 'Its owner makes one: cursordex hub init'],
  [
    /^42501 /,
    'hub-rights',
    'The hub does not allow this',
    'Its owner can: cursordex hub grant <role> --push <project>',
  ],
  [/^(53100|53200) /, 'hub-full', 'The disk or the memory of the hub is full', LATER],
  [
    /^23514 /,
    'hub-refused',
    'The hub refuses a value that is too long',
    'Shorten hub.machine, or leave out the chat that has it.',
  ],
  // Labels are the only values that can be taken.
  [
    /^23505 /,
    'hub-label-taken',
    'Another machine of this role has this label',
    'Set another hub.machine. If that machine is lost: cursordex hub forget --machine <label>',
  ],
  [
    /^(ERR_TLS|DEPTH_|SELF_SIGNED|UNABLE_TO|CERT_|HOSTNAME)|does not support SSL/,
    'hub-certificate',
    'The hub has no certificate, or one that does not match',
    'Name its authority with sslrootcert in hub.url and use its host name, or write sslmode=disable if nobody can listen.',
  ],
  // Cut, refused, no such host, no way there, too late, locked, too many connections, or the server stops.
  [
    /^(E[A-Z]+|EAI_AGAIN|08...|25P03|53300|55P03|57...) |timeout|terminated|not queryable|was closed/i,
    'hub-unreachable',
    'The hub cannot be reached',
    LATER,
  ],
  [/^[0-9A-Z]{5} /, 'hub-failed', 'The hub reported an error', LATER],
]

export const hubNotSet = (): UserError =>
  new UserError('hub-not-set', 'No hub is set.', 'Set hub.url, for example postgres://user@host/database', {
    exitCode: 2,
  })

/** A role that lost its rights sees nothing, and its pulled copies go. */
export function unlessRefused(error: unknown): [] {
  if (error instanceof UserError && error.code === 'hub-rights') return []
  throw error
}

/** Any error of a hub as one sentence with its remedy. Never contains the URL: it may contain a password. */
export function explainHubError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof UserError) return error
  const text = `${'code' in error ? String(error.code) : ''} ${error.message}`
  const found = EXPLANATIONS.find(([pattern]) => pattern.test(text))
  if (found === undefined) return error
  const [, known, what, hint] = found
  return new UserError(known, `${what}: ${error.message.replace(/\.?\s*$/, '')}.`, hint, { cause: error })
}
