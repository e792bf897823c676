/** A path segment for the JSON inside a string. */
export const INSIDE = Symbol('the JSON inside a string')
export type Path = readonly (string | number | typeof INSIDE)[]

/**
 * The value as JSON, with other text at one place. The text can be something that `JSON.stringify` never produces, such as
 * `1e999`, half a surrogate pair, or brackets nested a hundred thousand deep.
 */
export function graft(value: unknown, path: Path, raw: string): string {
  const [step, ...rest] = path
  if (step === undefined) return raw
  if (step === INSIDE) return JSON.stringify(graft(JSON.parse(String(value)), rest, raw))
  const textOf = (name: string | number, child: unknown): string =>
    name === step ? graft(child, rest, raw) : (JSON.stringify(child) ?? 'null')
  if (Array.isArray(value)) return `[${value.map((item, at) => textOf(at, item)).join()}]`
  const own = Object.entries(value as object)
  const named = own.some(([name]) => name === step) ? own : [...own, [String(step), undefined] as const]
  return `{${named.map(([name, child]) => `${JSON.stringify(name)}:${textOf(name, child)}`).join()}}`
}

const DEPTH_MAX = 8
/** How many items of a list are used. Later items are read like the first ones. */
const ITEMS_MAX = 2

/** Field names that a reader asks for in an object, by the name of the field with the object. */
export type AskedNames = ReadonlyMap<string, ReadonlySet<string>>

/** Every place of a value that can be replaced: its fields, and missing fields that a reader asks for. */
export function placesOf(value: unknown, asked: AskedNames, holder = '', depth = 0): Path[] {
  if (depth > DEPTH_MAX) return []
  if (typeof value === 'string') {
    const inner = objectIn(value)
    return inner === null ? [] : placesOf(inner, asked, '', depth + 1).map((path) => [INSIDE, ...path])
  }
  if (typeof value !== 'object' || value === null) return []
  const steps: (string | number)[] = Array.isArray(value)
    ? [...value.keys()].slice(0, ITEMS_MAX)
    : [...new Set([...Object.keys(value), ...(asked.get(holder) ?? []), '__proto__'])]
  return steps.flatMap((step) => {
    const child: unknown = Object.hasOwn(value, step) ? (value as Record<string | number, unknown>)[step] : undefined
    const below = placesOf(child, asked, typeof step === 'number' ? holder : step, depth + 1)
    return [[step], ...below.map((path) => [step, ...path])]
  })
}

function objectIn(text: string): object | null {
  if (!/^\s*[[{]/.test(text)) return null
  try {
    return JSON.parse(text) as object
  } catch {
    return null
  }
}
