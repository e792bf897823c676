import type * as z from 'zod/mini'
import { UserError } from '../model/user-error.ts'
import { depthHeld, layOver, valueAt } from './layer.ts'
import type { KeyPath, Layer } from './layer.ts'
import { nearestName } from '../text/nearest-name.ts'
import { settingsSchema, type SettingsTree, knownKeys } from './schema.ts'

/**
 * Lays the layers over each other, later over earlier, and holds the outcome against the schema: after each layer, so
 * that a wrong value is told even where a later layer hides it. The first layer names every key.
 * @throws UserError `bad-setting` or `unknown-setting`, naming the key, its place and what is allowed
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
  // A key that nobody knows often is why another one is missing: it is told first.
  const issue = issues.find((each) => each.code === 'unrecognized_keys') ?? issues[0]
  if (issue === undefined) throw new Error('The settings were refused without a reason.')
  if (issue.code === 'unrecognized_keys') return unknownKey([...issue.path, issue.keys[0] ?? ''], tree, layers)
  const name = issue.path.length === 0 ? 'The whole' : dotted(issue.path)
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
    `${dotted(path)} is no setting of cursordex (${placeOf(path, tree, layers)}).`,
    unfolded(path) ?? nearOrAll,
    { exitCode: 2 },
  )
}

/** Editors take `"http.port"` for a key within a key, and the manual names settings so. */
function unfolded(path: KeyPath): string | null {
  const keys = String(path.at(-1)).split('.')
  if (keys.length === 1 || !knownKeys().includes(generic(path))) return null
  const nested = keys.reduceRight((inner, key) => `{ ${JSON.stringify(key)}: ${inner} }`, '…')
  return `One key stands within the other: ${nested.slice(2, -2)}.`
}

/** A key with nearly this name beside it, else one of just this name elsewhere. */
function suggestion(path: KeyPath, siblings: readonly string[]): string | null {
  const last = String(path.at(-1))
  return (
    nearestName(generic(path), siblings) ?? knownKeys().find((key) => key === last || key.endsWith(`.${last}`)) ?? null
  )
}

/** The last layer that says as much of a path as all of them together. */
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
