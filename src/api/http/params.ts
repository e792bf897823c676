import type { Context } from 'hono'
import * as z from 'zod/mini'
import { nearestName } from '../../text/nearest-name.ts'
import { badParameters } from './problem.ts'
import type { BadParameter } from './problem.ts'

/** What reads each parameter of a query out of all the values that it gave. */
export type Params<Schema extends z.ZodMiniObject> = Readonly<z.output<Schema>>

/**
 * Parameters by their names. To be made once for each route: making them compiles code, which takes longer than reading
 * a query by it.
 */
export const parametersOf = <Shape extends z.core.$ZodShape>(shape: Shape) => z.object(shape)

export const noParameters = parametersOf({})

const filled = z.string().check(z.minLength(1, 'must not be empty'))
const values = z.array(z.string())

/** Any text, an empty one too. */
export const text = () => optional(one(z.string()))

/** A text that says something. */
export const word = () => optional(one(filled))

/** A repeated filter: any of its values will do. */
export const words = () => optional(z.readonly(z.array(filled)))

export const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  optional(one(z.enum(names, `must be ${list(names)}`)))

export const anyOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  optional(z.readonly(z.array(z.enum(names, `must be ${list(names)}`))))

/** Names joined by commas, or the parameter repeated. */
export const listOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  optional(
    z.pipe(
      z.pipe(
        values,
        z.transform((given: string[]) => given.flatMap((value) => value.split(','))),
      ),
      z.array(z.enum(names, `must be names of ${list(names)}, joined by commas`)),
    ),
  )

export const flag = () =>
  optional(
    one(
      z.pipe(
        z.enum(['true', 'false'], 'must be true or false'),
        z.transform((value) => value === 'true'),
      ),
    ),
  )

/** A list's page: 1 to 200 items, 20 where nothing is said. */
export const limit = (max = 200, usual = 20) => z._default(integer({ min: 1, max }), usual)

/** @param max the deepest start; unlimited where left out */
export const offset = (max = Number.MAX_SAFE_INTEGER) => z._default(integer({ min: 0, max }), 0)

/** A whole number that need not be given. */
export const wholeNumber = (range: { readonly min: number; readonly max: number }) => optional(integer(range))

function integer({ min, max }: { min: number; max: number }) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  const reason = `must be a whole number ${range}`
  return one(
    z.pipe(
      z.pipe(z.string().check(z.regex(/^-?\d+$/u, reason)), z.transform(Number)),
      z.number(reason).check(z.minimum(min, reason), z.maximum(max, reason)),
    ),
  )
}

function one<Value>(schema: z.ZodMiniType<Value, string>) {
  const first = z.transform((given: string[]) => given[0] ?? '')
  return z.pipe(z.pipe(values.check(z.length(1, 'must be given once')), first), schema)
}

/** What a query does not give is null. */
function optional<Schema extends z.ZodMiniType>(schema: Schema) {
  return z._default(z.nullable(schema), null)
}

function list(names: readonly string[]): string {
  return names.length === 1 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`
}

/**
 * The query of a request, each parameter read by its schema. Nothing is ignored: an unknown name is a problem.
 * @throws Problem 400 that names every parameter at fault
 */
export function readQuery<Schema extends z.ZodMiniObject>(c: Context, schema: Schema): Params<Schema> {
  const given = queryValues(c.req.url)
  const names = [...given.keys()]
  refuseUnknown(names, Object.keys(schema.shape), 'parameter')
  const parsed = schema.safeParse(Object.fromEntries(given))
  if (!parsed.success) throw badParameters(parsed.error.issues.map(toBadParameter))
  return parsed.data
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
