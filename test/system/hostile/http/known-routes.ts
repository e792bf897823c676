import { archivesHere } from '../../../helpers/archives-here.ts'
import { createApp } from '../../../../src/api/http/app.ts'
import { Histories } from '../../../../src/git/histories.ts'
import { liveOf } from '../values/still-world.ts'

export interface KnownRoute {
  readonly method: string
  /** The path as the app registers it. */
  readonly pattern: string
  /** The path with existing ids. */
  readonly path: string
}

/** The app without a daemon, only to list its routes. */
export const bareApp = (): ReturnType<typeof createApp> =>
  createApp({
    version: '1.2.3',
    timeZone: 'UTC',
    access: { token: null, tokenRequired: false, allowedHosts: () => new Set(['local']) },
    mirror: () => {
      throw new Error('there is no mirror')
    },
    now: () => 0,
    ask: () => Promise.reject(new Error('there is no search')),
    histories: new Histories({}),
    live: () => liveOf('/nowhere/mirror.db'),
    sync: () => Promise.reject(new Error('there is no sync')),
    archives: archivesHere('/nowhere', '/nowhere/mirror.db'),
    subscribe: () => () => undefined,
  })

/** Every route that the app registers, so new routes are included. */
export function knownRoutes(ids: {
  readonly chat: string
  readonly project: string
  readonly archive: string
  /** A file of the built page. */
  readonly asset: string
}): readonly KnownRoute[] {
  const registered = bareApp().routes.filter(({ method }) => method !== 'ALL')
  return registered.map(({ method, path }) => {
    const id = path.startsWith('/assets/')
      ? ids.asset
      : path.startsWith('/api/projects')
        ? ids.project
        : path.startsWith('/api/archives')
          ? ids.archive
          : ids.chat
    return { method, pattern: path, path: path.replace(/:\w+/g, encodeURIComponent(id)) }
  })
}
