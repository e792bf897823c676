export type KeyPath = readonly PropertyKey[]

/** Settings from one place: any keys with any values, not validated yet. */
export interface Layer {
  readonly tree: unknown
  /** The place of a key, or of the nearest key around it: `/home/a/config.json:3:9`, `--port`. */
  readonly placeOf: (path: KeyPath) => string
}

export const isTree = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

/** Merges two trees, the second over the first: objects key by key, other values as a whole. */
export function layOver(below: unknown, above: unknown): unknown {
  if (!isTree(below) || !isTree(above)) return above
  // `fromEntries` creates an own key even for `__proto__`, so every key of a file is validated.
  return Object.fromEntries([
    ...Object.entries(below),
    ...Object.entries(above).map(([key, given]) => [
      key,
      Object.hasOwn(below, key) ? layOver(below[key], given) : given,
    ]),
  ])
}

/** How many keys of a path exist in a tree. */
export function depthHeld(tree: unknown, path: KeyPath): number {
  let here = tree
  for (const [depth, key] of path.entries()) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return depth
    here = Reflect.get(here, key)
  }
  return path.length
}

export function valueAt(tree: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (here, key) =>
      typeof here === 'object' && here !== null && Object.hasOwn(here, key) ? Reflect.get(here, key) : undefined,
    tree,
  )
}
