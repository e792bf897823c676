import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { canLook, openHandles } from './handle-watch.ts'

/** Opens one file for reading and another for writing by turns, every half millisecond, so that both get the same number. */
const TURNS = `const { openSync, closeSync } = require('node:fs')
const hold = (...how) => {
  const fd = openSync(...how)
  for (const since = performance.now(); performance.now() - since < 0.5; );
  closeSync(fd)
}
process.stdout.write('begun')
for (;;) { hold('read', 'r'); hold('written', 'r+') }`

test.runIf(canLook)(
  'a file that is read is not reported as written if another file gets its number meanwhile',
  async () => {
    const root = mkdtempSync(join(homedir(), 'turns-'))
    for (const name of ['read', 'written']) writeFileSync(join(root, name), '')
    const child = spawn(process.execPath, ['-e', TURNS], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(child.stdout, 'data')
      const seen = Array.from({ length: 5_000 }, () => openHandles(child.pid ?? 0, root)).flat()
      const kinds = new Set(seen.map(({ path, access }) => `${access} ${path.slice(root.length + 1)}`))
      expect([...kinds].toSorted()).toEqual(['r read', 'rw written'])
    } finally {
      child.kill('SIGKILL')
    }
  },
)
