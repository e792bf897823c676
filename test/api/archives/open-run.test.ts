import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findRuns, openRun } from '../../../src/api/archives/open-run.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cursordex-from-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test.each([
  ['a plain file', 'file'],
  ['a path below a plain file', 'file/below'],
  ['what no path can hold', 'a\u0000b'],
  ['a name that is too long', 'x'.repeat(300)],
  ['a link to itself', 'loop'],
  ['an empty folder', 'empty'],
])('%s is no archive, and that is said', (_, name) => {
  writeFileSync(join(root, 'file'), '')
  mkdirSync(join(root, 'empty'))
  if (name === 'loop') symlinkSync(join(root, 'loop'), join(root, 'loop'))
  const from = join(root, name)
  const none = { code: 'archive-not-found', message: `There is no archive in ${from}.` }
  expect(() => findRuns(from)).toThrow(expect.objectContaining(none))
  const noSuch = { code: 'archive-not-found', message: `${from} holds no archive of the name x.` }
  expect(() => openRun(from, 'x')).toThrow(expect.objectContaining(noSuch))
})

// Windows has other rights, and root may read everything.
test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('an unreadable folder is named', () => {
  mkdirSync(join(root, 'runs'))
  chmodSync(join(root, 'runs'), 0)
  const unreadable = { code: 'archive-not-found', message: expect.stringMatching(/cannot be read.*EACCES/) }
  expect(() => findRuns(root)).toThrow(expect.objectContaining(unreadable))
  chmodSync(join(root, 'runs'), 0o700)
})
