import type * as z from 'zod/mini'
import { UserError } from '../model/user-error.ts'
import { depthHeld, layOver, valueAt } from './layer.ts'
import type { KeyPath, Layer } from './layer.ts'
import { nearestName } from '../text/nearest-name.ts'
import { settingsSchema, type SettingsTree, knownKeys } from './schema.ts'

/**
 * Merges the layers, later over earlier, and validates the result after each one. So a wrong value is reported even if a
 * later layer overrides it. The first layer must contain every key.
 * @throws UserError `bad-setting` or `unknown-setting`, with the key, its place and the allowed values
 */
export function judge(layers: readonly Layer[]): SettingsTree {
  let tree: unknown = {}
  let settled: SettingsTree | null = null
  for (const [index, layer] of layers.entries()) {
    tree = layOver(tree, layer.tree)
    const verdict = settingsSchema.safeParse(tree)
    if (!verdict.success) throw troubleOf(verdict.error.issues, tree, layers.slice(0, index + 1))
    settled = verdict.data
  }
  if (settled === null) throw new Error('Settings need a first layer.')
  return settled
}

function troubleOf(issues: readonly z.core.$ZodIssue[], tree: unknown, layers: readonly Layer[]): UserError {
  // An unknown key is often the reason why another one is missing, so it is reported first.
  const issue = issues.find((each) => each.code === 'unrecognized_keys') ?? issues[0]
  if (issue === undefined) throw new Error('The settings were refused without a reason.')
  if (issue.code === 'unrecognized_keys') return unknownKey([...issue.path, issue.keys[0] ?? ''], tree, layers)
  const name = issue.path.length === 0 ? 'The whole configuration' : dotted(issue.path)
  const isMissing = depthHeld(tree, issue.path) < issue.path.length
  const found = isMissing ? 'is missing' : `is ${shown(valueAt(tree, issue.path))}`
  return new UserError(
    'bad-setting',
    `${name} ${found} (${placeOf(issue.path, tree, layers)}).`,
    `It must be ${issue.message}.`,
    { exitCode: 2 },
  )
}

function unknownKey(path: KeyPath, tree: unknown, layers: readonly Layer[]): UserError {
  const parent = generic(path.slice(0, -1))
  const siblings = knownKeys().filter((key) => key.slice(0, Math.max(0, key.lastIndexOf('.'))) === parent)
  const near = suggestion(path, siblings)
  const nearOrAll = near === null ? `Allowed there: ${siblings.join(', ')}.` : `Did you mean ${near}?`
  return new UserError(
    'unknown-setting',
    `${dotted(path)} is not a setting of cursordex (${placeOf(path, tree, layers)}).`,
    unfolded(path) ?? nearOrAll,
    { exitCode: 2 },
  )
}

/** Editors accept `"http.port"` as a nested key, and the manual writes settings like this. */
function unfolded(path: KeyPath): string | null {
  const keys = String(path.at(-1)).split('.')
  if (keys.length === 1 || !knownKeys().includes(generic(path))) return null
  const nested = keys.reduceRight((inner, key) => `{ ${JSON.stringify(key)}: ${inner} }`, '…')
  return `Nest the keys: ${nested.slice(2, -2)}.`
}

/** A key of the same group with a similar name, else a key of another group with exactly this name. */
function suggestion(path: KeyPath, siblings: readonly string[]): string | null {
  const last = String(path.at(-1))
  return (
    nearestName(generic(path), siblings) ?? knownKeys().find((key) => key === last || key.endsWith(`.${last}`)) ?? null
  )
}

/** The place in the last layer that contains as much of the path as the merged tree. */
function placeOf(path: KeyPath, tree: unknown, layers: readonly Layer[]): string {
  const depth = depthHeld(tree, path)
  return layers.findLast((layer) => depthHeld(layer.tree, path) >= depth)?.placeOf(path) ?? 'nowhere'
}

const dotted = (path: KeyPath) =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('')

const generic = (path: KeyPath) => dotted(path).replace(/\[\d+\]/g, '[]')

function shown(given: unknown): string {
  const json = JSON.stringify(given) ?? String(given)
  return json.length > 80 ? `${json.slice(0, 79)}…` : json
}
