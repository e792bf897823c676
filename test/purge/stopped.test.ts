import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inPurgeProcess } from '../../src/engine/purge-process.ts'

test('a purge that waited for room as the daemon was stopped went to work, and nothing ended it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cursordex-stopped-'))
  try {
    const work = inPurgeProcess('search', { folders: [dir], match: 'a walnut' }, AbortSignal.abort())
    await expect(work).rejects.toMatchObject({ code: 'stopped' })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
