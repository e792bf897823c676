import type { Context } from 'hono'
import { z } from 'zod'
import { nearestName } from '../../text/nearest-name.ts'
import { badParameters } from './problem.ts'
import type { BadParameter } from './problem.ts'

/** By name: what reads a parameter out of all the values a query gave it (`undefined` where it gave none). */
export type ParamSchemas = Readonly<Record<string, z.ZodType>>
export type Params<Schemas extends ParamSchemas> = { readonly [Name in keyof Schemas]: z.output<Schemas[Name]> }

const filled = z.string().min(1, 'must not be empty')
const values = z.array(z.string())

/** Any text, an empty one too. */
export const text = () => optional(one(z.string()))

/** A text that says something. */
export const word = () => optional(one(filled))

/** A repeated filter: any of its values will do. */
export const words = () => optional(z.array(filled).readonly())

export const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  optional(one(z.enum(names, `must be ${list(names)}`)))

export const anyOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  optional(z.array(z.enum(names, `must be ${list(names)}`)).readonly())

/** Names joined by commas, or the parameter repeated. */
export const listOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  optional(
    values
      .transform((given) => given.flatMap((value) => value.split(',')))
      .pipe(z.array(z.enum(names, `must be names of ${list(names)}, joined by commas`))),
  )

export const flag = () =>
  optional(one(z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true')))

/** A list's page: 1 to 200 items, 20 where nothing is said. */
export const limit = () => integer({ min: 1, max: 200 }).default(20)

/** Rows of a report: 1 to 10,000, 1,000 where nothing is said. */
export const rowLimit = () => integer({ min: 1, max: 10_000 }).default(1000)

/** @param max the deepest start; unlimited where left out */
export const offset = (max = Number.MAX_SAFE_INTEGER) => integer({ min: 0, max }).default(0)

function integer({ min, max }: { min: number; max: number }) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  const reason = `must be a whole number ${range}`
  return one(
    z
      .string()
      .regex(/^-?\d+$/u, reason)
      .transform(Number)
      .pipe(z.number().min(min, reason).max(max, reason)),
  )
}

function one<Value>(schema: z.ZodType<Value, string>) {
  return values
    .length(1, 'must be given once')
    .transform((given) => given[0] ?? '')
    .pipe(schema)
}

/** What a query does not give is null. */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null)
}

function list(names: readonly string[]): string {
  return names.length === 1 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`
}

export interface QueryOptions {
  /** Names that the route will take one day: asking for them must not pass for an answer. */
  readonly notYet?: readonly string[]
}

/**
 * The query of a request, each parameter read by its schema. Nothing is ignored: an unknown name is a problem.
 * @throws Problem 400 that names every parameter at fault
 */
export function readQuery<Schemas extends ParamSchemas>(
  c: Context,
  schemas: Schemas,
  options: QueryOptions = {},
): Params<Schemas> {
  const given = queryValues(c.req.url)
  const names = [...given.keys()]
  refuseUnknown(names, [...Object.keys(schemas), ...(options.notYet ?? [])], 'parameter')
  const early = names.filter((name) => options.notYet?.includes(name))
  if (early.length > 0) {
    throw badParameters(
      early.map((name) => ({ name, reason: 'is not served yet' })),
      'not-yet',
    )
  }
  const parsed = z.object(schemas).safeParse(Object.fromEntries(given))
  if (!parsed.success) throw badParameters(parsed.error.issues.map(toBadParameter))
  return parsed.data as Params<Schemas>
}

/** @throws Problem 400 with the name that was probably meant. @param noun what the names are: `parameter`, `key` */
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
  if (nearest !== null) return `is no ${noun} here, perhaps "${nearest}" was meant`
  return known.length === 0 ? `is no ${noun} here; there are none` : `is no ${noun} here; known are ${known.join(', ')}`
}

/** Text that is no valid percent-encoding is taken as it stands: whatever is searched for is words. */
function queryValues(url: string): Map<string, string[]> {
  const given = new Map<string, string[]>()
  for (const [name, value] of new URL(url).searchParams) {
    const known = given.get(name)
    if (known === undefined) given.set(name, [value])
    else known.push(value)
  }
  return given
}

function toBadParameter(issue: z.core.$ZodIssue): BadParameter {
  return { name: String(issue.path[0] ?? ''), reason: issue.message }
}
