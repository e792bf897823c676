import { afterEach, expect, test } from 'vitest'
import { FaultyBuild } from '../../helpers/faulty-build.ts'
import { PurgePlace, secretOf, wordOf } from '../../helpers/purge-place.ts'
import { findBytes } from '../../helpers/purge-world.ts'

const builds: FaultyBuild[] = []
const places: PurgePlace[] = []

afterEach(async () => {
  for (const build of builds.splice(0)) build.remove()
  for (const place of places.splice(0)) await place.remove()
})

interface Outcome {
  /** What the purge itself found. */
  readonly exitCode: number | null
  readonly told: string
  /** The files with the secret after the purge, and after a full pass. */
  readonly after: readonly string[]
  readonly afterPass: readonly string[]
}

/** A message with a secret is read, archived, purged, and read again. */
async function purgeOnce(bin?: string): Promise<Outcome> {
  const place = new PurgePlace(8)
  places.push(place)
  const options = bin === undefined ? {} : { bin }
  expect(await place.run(['archive', 'run'], options)).toMatchObject({ exitCode: 0 })
  const find = (): string[] => [secretOf(3), wordOf(3)].flatMap((word) => findBytes(place.dataDir, word))
  expect(find()).not.toEqual([])
  const { exitCode, stdout, stderr } = await place.purgeSecret(3, options)
  const after = find()
  place.writeSecret(3, ' Or else.')
  expect(await place.run(['sync', '--full'], options)).toMatchObject({ exitCode: 0 })
  expect(await place.run(['archive', 'verify'], options)).toMatchObject({ exitCode: 0 })
  return { exitCode, told: stdout + stderr, after, afterPass: find() }
}

test('without a fault, nothing is left and nothing comes back', async () => {
  const { exitCode, told, after, afterPass } = await purgeOnce()
  expect([exitCode, after, afterPass, told.includes('"found": []')]).toEqual([0, [], [], true])
})

function faulty(file: string, replace: string, by: string, ...more: { file: string; replace: string; by: string }[]) {
  const build = new FaultyBuild({ file, replace, by }, ...more)
  builds.push(build)
  return build.bin
}

test('without tombstones, the next pass brings the text back', async () => {
  const bin = faulty(
    'mirror/purge/without-purged.ts',
    'if (tombstones.isEmpty) return batch',
    'if (!tombstones.isEmpty || batch) return batch',
  )
  const { after, afterPass } = await purgeOnce(bin)
  expect(after).toEqual([])
  expect(afterPass).toContain('mirror.db')
})

test('without merging the index, the terms are left in it', async () => {
  const bin = faulty(
    'mirror/purge/forget-words.ts',
    "db.exec(`insert into ${table} (${table}) values ('optimize')`)",
    '',
  )
  expect((await purgeOnce(bin)).after).toContain('mirror.db')
})

test('without removing terms, they are left in the list', async () => {
  const bin = faulty('mirror/purge/forget-words.ts', '    db.exec(FORGET_TERMS)\n', '')
  expect((await purgeOnce(bin)).after).toContain('mirror.db')
})

test('without rewriting archives, the text is found in them', async () => {
  const bin = faulty(
    'api/archives/purge/rewrite-archive.ts',
    'if (rest === null) return',
    'if (rest !== undefined) return',
  )
  const { exitCode, after } = await purgeOnce(bin)
  expect(after.join()).toContain('.jsonl.gz')
  expect(exitCode).toBe(1)
})

test('without overwriting, the text is found in unused parts of the file', async () => {
  const bin = faulty('mirror/purge/state.ts', "db.exec('vacuum')", '', {
    file: 'mirror/purge/remove-targets.ts',
    replace: "db.pragma('secure_delete = on')",
    by: '',
  })
  const { exitCode, after } = await purgeOnce(bin)
  expect(after).toContain('mirror.db')
  expect(exitCode).toBe(1)
})
