import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listRuns } from '../../../src/api/archives/list-runs.ts'
import { asProblem } from '../../../src/api/http/problem.ts'
import { archiveAct } from '../../../src/daemon/archive-act.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'

let archive: ArchiveFolder
let folder: string

beforeEach(() => {
  archive = new ArchiveFolder()
})
afterEach(() => {
  chmodSync(folder, 0o700)
  archive.remove()
})

function forbid(name: string): void {
  folder = join(archive.dir, name)
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0)
}

const verifying = (): Promise<unknown> => archiveAct({ kind: 'verify', dir: archive.dir, share: 1 }).next()

// Windows has other rights, and root may read everything.
test
  .skipIf(process.platform === 'win32' || process.getuid?.() === 0)
  .each<[name: string, act: string, ask: () => unknown]>([
    ['runs', 'list', () => listRuns(archive.dir)],
    ['runs', 'verify', verifying],
    ['objects', 'verify', verifying],
  ])('of a folder %s that may not be read "archive %s" said that the daemon made a mistake', async (name, _, ask) => {
  forbid(name)
  const error: unknown = await Promise.resolve()
    .then(ask)
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'archive-folder' })
  expect(asProblem(error)).toMatchObject({
    status: 503,
    message: expect.stringMatching(new RegExp(`${name} cannot be read \\(EACCES\\)\\. Make it readable`)),
  })
})
