import { hash as digest } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { asSourceId } from '../../model/ids.ts'
import { readingStep, type Source } from '../source.ts'

/** Stands for a folder that may not be listed: the stores in it are not read, which is not the same as absent. */
export const closedFolder = (kind: string, folder: string, rank: number): Source => ({
  id: asSourceId(digest('sha256', `${kind} ${folder}`).slice(0, 16)),
  kind,
  decoder: 1,
  path: folder,
  rank,
  folder,
  files: [],
  isAlwaysWarm: false,
  // Both fail like the listing did: then the state of the source is `unreadable`.
  signature: () => readdirSync(folder).join('/'),
  *pass() {
    readdirSync(folder)
    yield readingStep
    return { state: 'ok', detail: null, again: [] }
  },
})
