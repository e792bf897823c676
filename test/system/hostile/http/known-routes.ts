import { allPaths } from '../../../../src/api/http/app.ts'

export interface KnownRoute {
  readonly method: string
  /** The path as the app registers it. */
  readonly pattern: string
  /** The path with existing ids. */
  readonly path: string
}

/** What `:…` stands for, by the beginning of the path. */
export interface ExistingIds {
  readonly chat: string
  readonly project: string
  readonly archive: string
  /** A file of the built page. */
  readonly asset: string
}

export function knownRoutes(ids: ExistingIds): readonly KnownRoute[] {
  const byStart: readonly (readonly [string, string])[] = [
    ['/assets/', ids.asset],
    ['/api/projects', ids.project],
    ['/api/archives', ids.archive],
  ]
  return allPaths.map(({ method, path }) => {
    const [, id = ids.chat] = byStart.find(([start]) => path.startsWith(start)) ?? []
    return { method, pattern: path, path: path.replace(/:\w+/g, encodeURIComponent(id)) }
  })
}
