import type * as z from 'zod/mini'
import { fits } from '../../src/api/http/route.ts'
import { routes } from '../../src/api/http/routes.ts'

interface Definition {
  readonly type: string
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly element?: z.core.$ZodType
  readonly options?: readonly z.core.$ZodType[]
  readonly innerType?: z.core.$ZodType
  readonly entries?: Readonly<Record<string, string>>
  readonly values?: readonly unknown[]
}

const isRecord = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

/** Adds what a made-up answer lacks, so that a test names only what it is about. What is given stays, even if wrong. */
function filled(schema: z.core.$ZodType, given: unknown): unknown {
  const definition = schema._zod.def as unknown as Definition
  const { type, shape, element, options, innerType, entries, values } = definition
  switch (type) {
    case 'object': {
      if (given !== undefined && !isRecord(given)) return given
      const known = Object.entries(shape ?? {}).flatMap(([key, each]) => {
        const isMissing = given?.[key] === undefined
        return isMissing && each._zod.optin === 'optional' ? [] : [[key, filled(each, given?.[key])] as const]
      })
      return { ...given, ...Object.fromEntries(known) }
    }
    case 'array':
      return Array.isArray(given) && element !== undefined ? given.map((each) => filled(element, each)) : (given ?? [])
    case 'nullable':
      return given === undefined || given === null || innerType === undefined ? null : filled(innerType, given)
    case 'optional':
      return innerType === undefined ? given : filled(innerType, given)
    case 'union':
      return options === undefined ? given : filledUnion(options, given)
    case 'record':
      return given ?? {}
    case 'enum':
      return given ?? Object.values(entries ?? {})[0]
    case 'literal':
      return given ?? values?.[0]
    case 'string':
      return given ?? ''
    case 'boolean':
      return given ?? false
    case 'number':
      return given ?? 0
    default:
      return given ?? null
  }
}

/** The option of the same kind. */
function filledUnion(options: readonly z.core.$ZodType[], given: unknown): unknown {
  const kindOf = (option: z.core.$ZodType) =>
    ((option._zod.def as unknown as Definition).shape?.['kind']?._zod.def as unknown as Definition | undefined)?.values
  const found = options.find((option) => isRecord(given) && kindOf(option)?.includes(given['kind']))
  return found === undefined ? given : filled(found, given)
}

/** @param path of the request, without its query */
export function wholeAnswer(method: string, path: string, given: unknown): unknown {
  const answer = routes.find((route) => route.method === method && fits(route.path, path))?.answer
  return answer === undefined || Array.isArray(answer) ? given : filled(answer as z.core.$ZodType, given)
}
