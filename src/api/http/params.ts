import * as z from 'zod/mini'
import type { Context } from 'hono'
import { nearestName } from '../../text/nearest-name.ts'
import { Problem, badParameters } from './problem.ts'
import type { BadParameter } from '../answers/common.ts'
import { bodyLimit } from 'hono/body-limit'
import { type Clock, isTimeZone, readPeriod } from '../periods.ts'
import { resolveMachines } from '../queries/scope.ts'
import { resolveProjects } from '../queries/projects.ts'
import type { ApiContext } from '../context.ts'

/** The parameters of a query, as a schema reads them. */
export type Params<Schema extends z.ZodMiniObject> = Readonly<z.output<Schema>>

/**
 * A schema for parameters. Make it once per route: making it compiles code, which takes longer than reading a query.
 */
export const parametersOf = <Shape extends z.core.$ZodShape>(shape: Shape) => z.object(shape)

export const noParameters = parametersOf({})

const filled = z.string('must be a text').check(z.minLength(1, 'must not be empty'))

/** A parameter that may be given once: only then `readQuery` gives a text. */
const one = <Value>(schema: z.ZodMiniType<Value, string>) => z.pipe(z.string('must be given once'), schema)

/** Null if the query lacks the parameter. */
const optional = <Schema extends z.ZodMiniType>(schema: Schema) => z._default(z.nullable(schema), null)

/** A parameter that may be repeated. */
const each = <Value>(schema: z.ZodMiniType<Value, string>) =>
  z.readonly(
    z.pipe(
      z.transform((given: string | string[]) => [given].flat()),
      z.array(schema),
    ),
  )

/** Any text, even an empty one. */
export const text = () => optional(one(z.string()))

/** A text that is not empty. */
export const word = () => optional(one(filled))

/** A filter that may be repeated. One matching value is enough. */
export const words = () => optional(each(filled))

const enumOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.enum(names, `must be ${list(names)}`)

export const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) => optional(one(enumOf(names)))

export const anyOf = <const Names extends readonly [string, ...string[]]>(names: Names) => optional(each(enumOf(names)))

/** Names separated by commas, or the parameter repeated. */
export const listOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  optional(
    z.pipe(
      z.transform((given: string | string[]) => String(given).split(',')),
      z.array(z.enum(names, `must be one or more of ${list(names)}, separated by commas`)),
    ),
  )

const trueOrFalse = z.codec(z.enum(['true', 'false'], 'must be true or false'), z.boolean(), {
  decode: (given) => given === 'true',
  encode: (value) => (value ? 'true' : 'false'),
})
export const flag = () => optional(one(trueOrFalse))

/** How many items of a list to return: 1 to 200 by default, and 20 if not given. */
export const limit = (max = 200, preset = 20) => z._default(integer({ min: 1, max }), preset)

/** @param max the largest offset; unlimited by default */
export const offset = (max = Number.MAX_SAFE_INTEGER) => z._default(integer({ min: 0, max }), 0)

/** Which items of a list. */
export const page = { limit: limit(), offset: offset() }

/** A range of dates, and the zone of dates without one. */
export const dates = { from: word(), to: word(), tz: word() }

const WORDS = 'must be a list of non-empty texts'
/** In a body: a list that is not empty. */
export const bodyWords = z.array(z.string(WORDS).check(z.minLength(1, WORDS)), WORDS).check(z.minLength(1, WORDS))

/** In a body: a text that is not empty. */
export const bodyText = (reason: string) => z.string(reason).check(z.minLength(1, reason))

/** In a body. */
export const bodyFlag = (preset: boolean) => z._default(z.boolean('must be true or false'), preset)

/** An optional whole number. */
export const wholeNumber = (range: { readonly min: number; readonly max: number }) => optional(integer(range))

function integer({ min, max }: { min: number; max: number }) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  const reason = `must be a whole number ${range}`
  return one(
    z.pipe(
      z.pipe(z.string().check(z.regex(/^-?\d+$/u, reason)), z.transform(Number)),
      z.int(reason).check(z.minimum(min, reason), z.maximum(max, reason)),
    ),
  )
}

function list(names: readonly string[]): string {
  return names.length === 1 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`
}

/**
 * Reads the query of a request. Nothing is ignored: an unknown parameter is an error.
 * @throws Problem 400 that names every wrong parameter
 */
export function readQuery<Schema extends z.ZodMiniObject>(c: Context, schema: Schema): Params<Schema> {
  // `searchParams` keeps malformed percent-encoding as plain text. That is right here: a search text may contain it.
  const { searchParams } = new URL(c.req.url)
  refuseUnknown([...new Set(searchParams.keys())], Object.keys(schema.shape), 'parameter')
  const given = Object.keys(schema.shape).flatMap((name) => {
    const [first, ...others] = searchParams.getAll(name)
    return first === undefined ? [] : [[name, others.length === 0 ? first : [first, ...others]] as const]
  })
  return parsedBy(schema, Object.fromEntries(given), 'bad-parameter')
}

/** @throws Problem 400 with the name that was probably meant. @param noun `parameter` or `key` */
export function refuseUnknown(names: readonly string[], known: readonly string[], noun: string): void {
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw badParameters(
    unknown.map((name) => ({ name, reason: unknownReason(name, known, noun) })),
    `unknown-${noun}`,
  )
}

function unknownReason(name: string, known: readonly string[], noun: string): string {
  const nearest = nearestName(name, known)
  if (nearest !== null) return `is not a known ${noun}; perhaps "${nearest}" was meant`
  if (known.length === 0) return `is not a known ${noun}: this route has none`
  return `is not a known ${noun}; the known ones are ${known.join(', ')}`
}

/** What a schema makes of the given values. @throws Problem 400 that names every wrong one */
function parsedBy<Schema extends z.ZodMiniObject>(schema: Schema, given: object, code: string): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  // A repeated parameter has one name. A key within a body is named with its place.
  const nameOf = (path: readonly PropertyKey[]) => (code === 'bad-body' ? path : path.slice(0, 1)).join('.')
  const errors = parsed.error.issues.map(({ path, message }) => ({ name: nameOf(path), reason: message }))
  throw badParameters(errors, code)
}

/** Enough for a usage file of about 100,000 rows: one year of a very busy user. */
const BODY_BYTES_MAX = 16 * 1024 * 1024

/** @throws Problem 413 */
export const limitBodies = bodyLimit({
  maxSize: BODY_BYTES_MAX,
  onError: () => {
    // No `Connection: close`: if the connection closed while the client still sends, the client would lose this
    // answer. The server discards the rest of the body, at most 64 MB or for half a second.
    throw new Problem(413, 'too-large', `The body may be at most ${BODY_BYTES_MAX} bytes long.`)
  },
})

/**
 * Reads the JSON object of a request by its schema. A missing body counts as an empty object.
 * @throws Problem 415 for another media type, which a foreign page could send without a preflight request; 400 otherwise
 */
export async function readBody<Schema extends z.ZodMiniObject>(c: Context, schema: Schema): Promise<z.output<Schema>> {
  const sent = await c.req.text()
  if (sent !== '' && !/^application\/json\s*(;|$)/iu.test(c.req.header('content-type') ?? '')) {
    throw new Problem(415, 'not-json', 'The body must be sent as application/json.')
  }
  const body = sent === '' ? {} : parseJson(sent)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(400, 'bad-body', 'The body must be a JSON object.')
  }
  refuseUnknown(Object.keys(body), Object.keys(schema.shape), 'key')
  return parsedBy(schema, body, 'bad-body')
}

function parseJson(sent: string): unknown {
  try {
    return JSON.parse(sent)
  } catch (error) {
    if (error instanceof SyntaxError) throw new Problem(400, 'bad-body', 'The body is not valid JSON.')
    throw error
  }
}

export interface Bounds {
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
}

/** Why a text is refused as a date. */
export const NO_DATE = 'must be a date such as 2026-03-01, 2026-03-01T09:30:00Z, 2026-02, yesterday or 7d'

/** The time zone of a request, and the present time. @throws Problem 400 if `tz` is no time zone */
export function readClock(tz: string | null, context: { readonly timeZone: string; now(): number }): Clock {
  // An unencoded plus arrives as a space.
  const timeZone = tz?.replace(/^ (?=\d)/u, '+') ?? context.timeZone
  if (!isTimeZone(timeZone)) {
    throw badParameters([{ name: 'tz', reason: 'must be a time zone such as Europe/Berlin or UTC' }])
  }
  return { timeZone, nowMs: context.now() }
}

/**
 * Reads `from` and `to`. Each means the first moment of its date.
 * @throws Problem 400 if either is no date
 */
export function readBounds(query: { readonly from: string | null; readonly to: string | null }, clock: Clock): Bounds {
  const errors: BadParameter[] = []
  const read = (name: 'from' | 'to'): number | null => {
    const given = query[name]
    const period = given === null ? null : readPeriod(given, clock)
    if (given !== null && period === null) errors.push({ name, reason: NO_DATE })
    return period?.startMs ?? null
  }
  const bounds = { fromMs: read('from'), toMs: read('to') }
  if (errors.length > 0) throw badParameters(errors)
  return bounds
}

interface Scoped extends Record<'from' | 'to' | 'tz', string | null> {
  readonly project: readonly string[] | null
  readonly machine: readonly string[] | null
}

/**
 * The projects and machines that a request names, by their numbers, its time and its zone; null for what it does not name.
 * @throws Problem 400 if a date or the zone is none
 */
export function readScope({ project, machine, tz, ...range }: Scoped, context: ApiContext) {
  const clock = readClock(tz, context)
  const bounds = readBounds(range, clock)
  const db = context.mirror()
  return {
    projectNums: project === null ? null : resolveProjects(db, project),
    machineNums: machine === null ? null : resolveMachines(db, machine),
    ...bounds,
    ...clock,
  }
}
