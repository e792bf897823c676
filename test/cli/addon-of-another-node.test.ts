import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FaultyBuild } from '../helpers/faulty-build.ts'
import { Cursordex } from '../helpers/spawn-cursordex.ts'

let build: FaultyBuild
const folder = mkdtempSync(join(tmpdir(), 'cursordex-addon-'))

// The errors of the packages if the addon was compiled for another Node, and if it was never compiled.
beforeAll(() => {
  const fault = `process.env['FAULT'] === 'missing' ? { tries: [] } : { code: 'ERR_DLOPEN_FAILED' }`
  const by = `class { constructor() { throw Object.assign(new Error('NODE_MODULE_VERSION'), ${fault}) } } as typeof Sqlite`
  build = new FaultyBuild({ file: 'sqlite.ts', replace: 'load(form) as typeof Sqlite', by })
})
afterAll(() => {
  build.remove()
  rmSync(folder, { recursive: true })
})

const commands = [['serve', '--port', '0'], ['demo'], ['chats'], ['status']]

test.each(commands.flatMap((words) => ['other', 'missing'].map((fault) => ({ words, fault }))))(
  'if the SQLite addon does not fit this Node ($fault), $words says so and what to do',
  async ({ words, fault }) => {
    const flags = ['--data-dir', join(folder, 'data'), '--cursor-user-dir', '', '--cursor-home', '']
    const { exitCode, stderr } = await new Cursordex([...flags, ...words], { bin: build.bin, env: { FAULT: fault } })
      .ended
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Run "npm ci" again with this Node')])
    expect(stderr).not.toMatch(/bug|sample|TMPDIR/)
  },
)
