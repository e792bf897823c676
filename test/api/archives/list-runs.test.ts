import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listRuns } from '../../../src/api/archives/list-runs.ts'
import { runPath } from '../../../src/archive/names.ts'
import { plantRun, RUN } from '../../helpers/made-archive.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cursordex-list-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test.each([10, 900, 5000])('a run whose scope names %i long paths is listed as sound', (count) => {
  const scope = { path: Array.from({ length: count }, (_, at) => `/${'ü'.repeat(300)}/${at}`) }
  plantRun(dir, [], { scope })
  expect(listRuns(dir)).toMatchObject([{ name: RUN, head: { scope, chatCount: 0 }, sha256: expect.any(String) }])
})

test.each(['', '{', `{\n"format": ${'x'.repeat(1_000_000)}`])(
  'a file that does not start like a manifest has no head',
  (text) => {
    const path = join(dir, runPath(RUN))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    expect(listRuns(dir)).toEqual([{ name: RUN, head: null, sha256: null }])
  },
)
