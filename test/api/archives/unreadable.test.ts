import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listRuns } from '../../../src/api/archives/list-runs.ts'
import { asProblem } from '../../../src/api/http/problem.ts'
import { verifyJob } from '../../../src/engine/jobs/archive.ts'
import { doTask } from '../../../src/engine/purge/do-task.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { OpenMirror } from '../../helpers/open-mirror.ts'
import { scopeOf } from '../../helpers/purge-world.ts'
import { restoreHere } from '../../helpers/restored-mirror.ts'

let archive: ArchiveFolder
let empty: OpenMirror
let folder: string

beforeEach(() => {
  archive = new ArchiveFolder()
  empty = new OpenMirror()
})
afterEach(() => {
  chmodSync(folder, 0o700)
  archive.remove()
  empty.remove()
})

function forbid(name: string): void {
  folder = join(archive.dir, name)
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0)
}

const context = { mirrorPath: '', mirror: () => empty.db }
const verifying = async (): Promise<unknown> => verifyJob({ dir: archive.dir, share: 1 }, context).next()

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

const isAllowed = process.platform === 'win32' || process.getuid?.() === 0

test.skipIf(isAllowed).each([
  ['verify', verifying],
  ['restore', () => restoreHere(empty.db, archive.dir, { isOwn: true })],
])('of a folder that may only be read "archive %s" said that the daemon made a mistake', async (_, ask) => {
  folder = archive.dir
  mkdirSync(archive.dir)
  chmodSync(archive.dir, 0o500)
  const text = expect.stringMatching(/\.lock may not be read, or not be written to \(EACCES\)\. Let the user/)
  const error: unknown = await ask().catch((thrown: unknown) => thrown)
  expect(asProblem(error)).toMatchObject({ status: 503, message: text })
})

test.skipIf(isAllowed)('a purge reports which folder of the archive it may not read', async () => {
  forbid('objects')
  const order = { dir: archive.dir, mirrorPath: empty.path, scope: scopeOf({ match: 'quixotic' }), chatIds: [] }
  await expect(doTask({ task: 'survey', order })).rejects.toMatchObject({ code: 'archive-folder' })
})

test.skipIf(isAllowed)('a purge is reported as done in spite of an unreadable folder', async () => {
  forbid('elsewhere')
  const order = { folders: [archive.root, archive.dir], match: 'quixotic' }
  await expect(doTask({ task: 'search', order })).resolves.toMatchObject({ found: [], unread: ['archives/elsewhere'] })
})
