import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FaultyBuild } from '../../helpers/faulty-build.ts'
import { harms } from '../../helpers/harms.ts'
import { readWords } from '../../helpers/restored-mirror.ts'
import { Cursordex } from '../../helpers/spawn-cursordex.ts'
import { DamagedRounds, type RestoreFolder } from './damaged-rounds.ts'
import type { ArchiveRestored } from '../../../src/api/http/schemas/archives.ts'

/** As many times as for `verify`. */
const TIMES = 13

let rounds: DamagedRounds

beforeAll(async () => {
  rounds = await DamagedRounds.begin()
})
afterAll(() => rounds.remove())

test.each(harms.map(([kind]) => kind))(
  '%s: everything undamaged is restored, nothing else, and the archive folder is not written',
  async (kind) => {
    expect(await rounds.restore(kind, TIMES, 0)).toEqual([])
  },
  120_000,
)

/** Restores with the command of a build, into a new mirror. */
const restoreBy =
  (bin: string): RestoreFolder =>
  async (dir) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'cursordex-data-'))
    try {
      const nowhere = ['--cursor-user-dir', '', '--cursor-home', '', '--data-dir', dataDir]
      const { stdout } = await new Cursordex(['archive', 'restore', '--from', dir, '--json', ...nowhere], { bin }).ended
      const { damaged, manifest } = JSON.parse(stdout) as ArchiveRestored
      return { damaged, why: manifest, words: readWords(join(dataDir, 'mirror.db')) }
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  }

test.each([
  [
    'that does not check to which chat an object belongs',
    'a manifest that gives one chat the object of another',
    [{ file: 'api/archives/prove-object.ts', replace: 'chat.value.id !== claim.id', by: 'false' }],
    /named/,
  ],
  [
    'that trusts a manifest about the messages',
    'a manifest that leaves out a message',
    [
      {
        file: 'api/archives/prove-object.ts',
        replace: 'lineHash(line) !== claim.messages[places.length]',
        by: 'places.length < 0',
      },
      {
        file: 'api/archives/prove-object.ts',
        replace: 'places.length !== claim.messages.length',
        by: 'places.length < 0',
      },
    ],
    /not named|came/,
  ],
  [
    'that gives up at a damaged manifest',
    'a manifest cut off',
    [{ file: 'api/archives/read-all-runs.ts', replace: 'yield* this.#unnamed()', by: 'return' }],
    /did not come back/,
  ],
  [
    'that locks a folder that it only reads',
    'an object removed',
    [{ file: 'engine/restore.ts', replace: 'isOwn ? takeArchiveLock(dir) : null', by: 'takeArchiveLock(dir)' }],
    /was written to/,
  ],
] as const)(
  'a restore %s would be noticed',
  async (_, kind, plantings, finding) => {
    const build = new FaultyBuild(...plantings)
    try {
      expect((await rounds.restore(kind, 1, 1, restoreBy(build.bin))).join('\n')).toMatch(finding)
    } finally {
      build.remove()
    }
  },
  120_000,
)
