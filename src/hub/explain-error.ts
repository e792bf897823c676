import { UserError } from '../model/user-error.ts'

const LATER = 'Nothing is lost here. It is tried again at the next push or pull.'

/** Codes of PostgreSQL, and what they mean for a hub. */
const BY_STATE: Readonly<Record<string, readonly [code: string, what: string, hint: string]>> = {
  '28P01': [
    'hub-password',
    'The hub refused the password',
    'Correct it in hub.url, or in the file that PGPASSFILE names.',
  ],
  '28000': ['hub-password', 'The hub refused the user', 'Ask its owner whether the role may log in from this machine.'],
  '3D000': ['hub-database', 'The hub has no database of this name', 'Correct hub.url.'],
  '3F000': ['hub-missing', 'This database has no hub yet', 'Its owner makes one: cursordex hub init'],
  '42P01': ['hub-missing', 'This database has no hub yet', 'Its owner makes one: cursordex hub init'],
  '42501': ['hub-rights', 'The hub does not allow this', 'Its owner can: cursordex hub grant <role> --push'],
  '53100': ['hub-full', 'The disk of the hub is full', LATER],
  '53200': ['hub-full', 'The hub is out of memory', LATER],
  '53300': ['hub-unreachable', 'The hub has too many connections', LATER],
  '57014': ['hub-unreachable', 'The hub did not answer in time', LATER],
  '55P03': ['hub-unreachable', 'Another push of this machine is at work', LATER],
  '25P03': ['hub-unreachable', 'The hub ended the connection, because it waited too long', LATER],
}

const BY_NODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its host name could not be looked up',
  ETIMEDOUT: 'it did not answer in time',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no network',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
}

/** Any error of a hub as one sentence with its remedy. Never contains the URL: it may contain a password. */
export function explainHubError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof UserError) return error
  const code = 'code' in error ? String(error.code) : ''
  const known = BY_STATE[code]
  if (known !== undefined) return new UserError(known[0], `${known[1]}.`, known[2], { cause: error })
  if (/^(ERR_TLS|DEPTH_|SELF_SIGNED|UNABLE_TO|CERT_|HOSTNAME)/.test(code)) {
    const hint = 'Name its authority with sslrootcert in hub.url, or use the host name of the certificate.'
    return new UserError('hub-certificate', `The certificate of the hub does not match: ${error.message}.`, hint, {
      cause: error,
    })
  }
  if (/does not support SSL/.test(error.message)) {
    const hint = 'Turn TLS on there, or write sslmode=disable in hub.url if nobody can listen.'
    return new UserError('hub-certificate', 'The hub does not encrypt connections.', hint, { cause: error })
  }
  // The package refuses to send an empty one.
  if (/password must be a (non-empty )?string/.test(error.message)) {
    const hint = 'Write it into the file that PGPASSFILE names, by default ~/.pgpass.'
    return new UserError('hub-password', 'The hub asks for a password.', hint, { cause: error })
  }
  const why = BY_NODE[code] ?? whyCut(error.message)
  if (why !== null || /^(57P|08)/.test(code)) {
    return new UserError('hub-unreachable', `The hub cannot be reached: ${why ?? 'it is stopping'}.`, LATER, {
      cause: error,
    })
  }
  return /^[0-9A-Z]{5}$/.test(code)
    ? new UserError('hub-failed', `The hub reported an error: ${error.message} (${code}).`, LATER, { cause: error })
    : error
}

function whyCut(message: string): string | null {
  if (/timeout/i.test(message)) return 'it did not answer in time'
  return /Connection terminated|not queryable|connection was closed|Client was closed/i.test(message)
    ? 'the connection was cut'
    : null
}
