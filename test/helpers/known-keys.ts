import { readFileSync } from 'node:fs'

const DEFAULTS = new URL('../../config/default.json', import.meta.url)

/**
 * All keys of the settings in dotted form. `[]` means the entries of a list: `archives.jobs[].keep.daily`. The shipped
 * defaults have every key, else no settings can be loaded.
 */
export const knownKeys = (): string[] => keysBelow(JSON.parse(readFileSync(DEFAULTS, 'utf8')), '')

function keysBelow(value: unknown, name: string): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => keysBelow(entry, `${name}[]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, below]) => {
    const full = name === '' ? key : `${name}.${key}`
    return [full, ...keysBelow(below, full)]
  })
}
