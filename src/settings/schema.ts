import { validate as isCron } from 'node-cron'
import * as z from 'zod/mini'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

const sourceKinds = [
  'composer-kv',
  'agent-blobs',
  'pasted-text',
  'global-items',
  'workspace-items',
  'transcripts',
  'cli-store',
  'tracking',
  'plans',
  'archive',
] as const
export type SourceKind = (typeof sourceKinds)[number]

/** One value of the settings. Its error lists the allowed values, worded to follow "must be". */
function value<T>(allowed: string, isAllowed: (given: unknown) => boolean) {
  return z.custom<T>(isAllowed, { error: allowed })
}

const orNull = <T>(allowed: string, isAllowed: (given: unknown) => boolean) =>
  value<T | null>(allowed, (given) => given === null || isAllowed(given))

function group<Shape extends z.core.$ZodShape>(shape: Shape) {
  const keys = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? `Allowed there: ${keys}.` : `an object with the keys ${keys}`),
  })
}

const isText = (given: unknown): given is string => typeof given === 'string' && given.trim() !== ''

// System calls end a path at a NUL.
const isPath = (given: unknown): given is string => isText(given) && !given.includes('\0')

const isWithin = (min: number, max: number) => (given: unknown) =>
  typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max

function isTimeZone(given: unknown): boolean {
  if (!isText(given) || /^[+-]/.test(given)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions().timeZone !== ''
  } catch {
    // Intl throws a RangeError for an unknown zone.
    return false
  }
}

/** An http or https address with nothing behind the port. */
function isOrigin(given: unknown): boolean {
  if (!isText(given) || !URL.canParse(given)) return false
  const { protocol, pathname, search, hash, username, password } = new URL(given)
  return /^https?:$/.test(protocol) && pathname === '/' && search + hash + username + password === ''
}

const flag = value<boolean>('true or false', (given) => typeof given === 'boolean')
const path = orNull<string>('a path, or null for the default', isPath)
const paths = orNull<readonly string[]>(
  'a list of paths, or null for the default',
  (given) => Array.isArray(given) && given.every(isPath),
)
const count = value<number>('a whole number, 0 or more', isWithin(0, Number.MAX_SAFE_INTEGER))

const cron = (example: string) =>
  value<string>(`a cron expression, such as ${example}`, (given) => isText(given) && isCron(given))

const job = group({
  name: value<string>(
    '1 to 64 letters, digits, "-" or "_"',
    (given) => typeof given === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(given),
  ),
  schedule: cron('"0 3 * * 0" for Sundays at three'),
  timezone: z._default(
    orNull<string>('the IANA name of a time zone, such as "Europe/Berlin", or null for the local one', isTimeZone),
    null,
  ),
  scope: z._default(orNull<string>('a search, or null for everything', isText), null),
  keep: group({ daily: count, weekly: count, monthly: count }),
})

const jobs = z.array(job, { error: 'a list of archive jobs' }).check((context) => {
  const names = context.value.map((each) => each.name)
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) === index) continue
    const message = 'a name that no other job has'
    context.issues.push({ code: 'custom', message, path: [index, 'name'], input: name })
  }
})

const texts = (allowed: string) =>
  value<readonly string[]>(allowed, (given) => Array.isArray(given) && given.every(isText))
const hubProjects = texts('a list of projects; "*" is all')
const schedule = cron('"*/10 * * * *" for every ten minutes')

const source = group({ enabled: flag })

/** Schema of the merged settings. `null` means that the default depends on the platform. */
export const settingsSchema = group({
  $schema: z.optional(value<string>('a string', (given) => typeof given === 'string')),
  cursor: group({ userDirs: paths, homes: paths }),
  dataDir: path,
  http: group({
    host: value<string>('a host name or an address', (given) => isText(given) && !/[\s/]/.test(given)),
    port: value<number>('a whole number from 0 to 65535', isWithin(0, 65_535)),
    publicUrl: orNull<string>('an address such as "https://box.example:8443", without a path, or null', isOrigin),
  }),
  log: group({ level: z.enum(logLevels, { error: `one of ${logLevels.join(', ')}` }) }),
  sources: group(Object.fromEntries(sourceKinds.map((kind) => [kind, source])) as Record<SourceKind, typeof source>),
  auth: group({ required: flag }),
  search: group({ deadlineMs: value<number>('a whole number from 50 to 60000', isWithin(50, 60_000)) }),
  exclude: group({ projects: texts('a list of names, ids or paths of projects') }),
  tokens: group({ estimate: flag }),
  archives: group({ dir: path, jobs }),
  hub: group({
    url: orNull<string>('an address such as "postgres://user@host/database", or null', isText),
    machine: orNull<string>(
      'a name, or null for the name of the host',
      (given) => isText(given) && given.length <= 200,
    ),
    push: group({ projects: hubProjects, redact: flag, schedule }),
    pull: group({ projects: hubProjects, schedule }),
  }),
})

export type SettingsTree = z.infer<typeof settingsSchema>
