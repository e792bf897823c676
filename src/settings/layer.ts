export type KeyPath = readonly PropertyKey[]

/** Settings as one place gives them: some keys, of any value, not yet judged. */
export interface Layer {
  readonly tree: unknown
  /** Where a key, or the nearest key around it, stands: `/home/a/config.json:3:9`, `--port`. */
  readonly placeOf: (path: KeyPath) => string
}

export const isTree = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

/** Lays one tree over another: objects key by key, everything else whole. */
export function layOver(below: unknown, above: unknown): unknown {
  if (!isTree(below) || !isTree(above)) return above
  // `fromEntries` makes own keys even of `__proto__`, so that no key of a file escapes judgement.
  return Object.fromEntries([
    ...Object.entries(below),
    ...Object.entries(above).map(([key, given]) => [
      key,
      Object.hasOwn(below, key) ? layOver(below[key], given) : given,
    ]),
  ])
}

/** How much of a path a tree holds, in keys. */
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
