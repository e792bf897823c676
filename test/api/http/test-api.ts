import { UserError } from '../../../src/model/user-error.ts'
import { dirname } from 'node:path'
import { hubShapes } from '../../helpers/hub-shapes.ts'
import { archivesHere } from '../../helpers/archives-here.ts'
import { mergeProject } from '../../../src/mirror/projects/place-chats.ts'
import { importUsageFile } from '../../helpers/import-usage-file.ts'
import type { Hono } from 'hono'
import { createApp } from '../../../src/api/http/app.ts'
import type { ApiContext, DaemonEvent, LiveState, PageFiles } from '../../../src/api/context.ts'
import { answerQuestion } from '../../../src/api/questions.ts'
import { Histories } from '../../../src/git/histories.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

export const HOST = '127.0.0.1:4870'

export interface TestApi {
  readonly app: Hono
  readonly mirror: SeededMirror
  /** What `sync` was called with. */
  readonly syncs: { full: boolean }[]
  readonly faults: unknown[]
  readonly listeners: Set<(event: DaemonEvent) => void>
  emit(event: DaemonEvent): void
  /** Sends a request as a local program does: the right Host, nothing else. */
  ask(path: string, init?: RequestInit): Promise<Response>
  dispose(): void
}

/** An idle daemon. */
export const live: LiveState = {
  state: 'ready',
  reasons: [],
  uptimeMs: 5,
  progress: null,
  resources: { rssBytes: 1, cpuPercent: 2, longestReadMs: 3, bytesRead: 4 },
  lagMs: null,
  mirrorPath: '/nowhere/mirror.db',
}

const bytes = (text: string) => new TextEncoder().encode(text)

/** In place of the built page. */
const samplePage: PageFiles = {
  shell: () => '<!doctype html><title>page</title>',
  asset: (name) => (name === 'talk' ? { type: 'text/javascript; charset=utf-8', body: bytes('plain') } : null),
}

const nothingIsPurged = (): Promise<never> =>
  Promise.reject(new UserError('no-writer', 'Nothing is purged here.', '', { status: 503 }))

/** What the app has over the mirror of a test. Only the daemon around it is fake. */
export const contextOver = (
  path: string,
  reader: () => Mirror,
  writer: () => Mirror,
): Omit<ApiContext, 'archives' | 'purging' | 'subscribe' | 'reportFault'> => ({
  version: '1.2.3',
  timeZone: 'UTC',
  excluded: ['client-work'],
  heartbeatMs: 20,
  access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
  mirror: reader,
  now: () => Date.now(),
  ask: async (question) => answerQuestion(reader(), question),
  histories: new Histories(process.env),
  live: () => ({ ...live, mirrorPath: path }),
  sync: async () => ({ changed: 1, added: 2, gone: 3, tookMs: 4, reasons: [] }),
  importUsage: (file) => importUsageFile(writer(), file),
  mergeProjects: async ({ uri, target }) => ({ chats: mergeProject(writer(), uri, target).length }),
  hub: hubShapes,
})

export function createTestApi(overrides: Partial<ApiContext> = {}): TestApi {
  const mirror = seedMirror()
  const syncs: { full: boolean }[] = []
  const faults: unknown[] = []
  const listeners = new Set<(event: DaemonEvent) => void>()
  const context = contextOver(
    mirror.path,
    () => mirror.reader,
    () => mirror.writer,
  )
  const app = createApp({
    ...context,
    page: samplePage,
    sync: async (options) => {
      syncs.push(options)
      return context.sync(options)
    },
    purging: { isBusy: false, purge: nothingIsPurged, acceptLostBars: nothingIsPurged },
    archives: archivesHere(dirname(mirror.path), mirror.path),
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    reportFault: (error) => faults.push(error),
    ...overrides,
  })
  return {
    app,
    mirror,
    syncs,
    faults,
    listeners,
    emit: (event) => {
      for (const listener of listeners) listener(event)
    },
    ask: async (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (!headers.has('host')) headers.set('host', HOST)
      return app.request(path, { ...init, headers })
    },
    dispose: () => mirror.dispose(),
  }
}

/** The JSON body of a response, untyped. */
export async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>
}
