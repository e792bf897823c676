import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PurgePlace, secretOf } from '../helpers/purge-place.ts'
import { findBytes } from '../helpers/purge-world.ts'

test('if the disk with the archives is missing, a purge says that it could not read them', async () => {
  const place = new PurgePlace(2, 2)
  try {
    expect((await place.run(['archive', 'run'])).exitCode).toBe(0)
    const [archives, away] = [join(place.dataDir, 'archives'), join(place.place.root, 'away')]
    renameSync(archives, away)
    const looked = await place.run(['purge', '--match'], { input: secretOf(0) })
    expect(looked.stdout).toMatch(/^Cannot be read: archive \S+-manual \(there is no archive in .*\)\.$/m)
    const purged = await place.run(['purge', '--match', '--yes'], { input: secretOf(0) })
    expect([purged.exitCode, purged.stdout]).toEqual([1, expect.stringContaining('0 found in what could be read')])
    expect(findBytes(away, secretOf(0))).not.toEqual([])
    renameSync(away, archives)
    expect((await place.purgeSecret(1)).exitCode).toBe(0)
    // The earlier purge is applied too.
    for (const chat of [0, 1]) expect(findBytes(archives, secretOf(chat))).toEqual([])
  } finally {
    await place.remove()
  }
})
