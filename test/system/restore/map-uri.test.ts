import { expect, test } from 'vitest'
import { readMap } from '../../../src/indexer/sources/archive/index.ts'
import { normaliseRoot } from '../../../src/indexer/projects/root-uri.ts'
import { UserError } from '../../../src/model/user-error.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

/** In the form of stored roots. */
const uriOf = (root: string): string => normaliseRoot(root)?.uri ?? ''

// Folders are mapped by whole names, as they are written. A local folder is not a folder on a remote machine.
test.each(cases<[map: Record<string, string>, from: string, to: string]>('mapped'))(
  '%j maps %s to %s',
  (map, from, to) => {
    expect(uriOf(readMap(map)(uriOf(from)))).toBe(uriOf(to))
  },
)

test.each(cases<[map: Record<string, string>, why: string]>('refused'))('the map %j is refused: %s', (map, why) => {
  expect(() => readMap(map)).toThrow(UserError)
  expect(() => readMap(map)).toThrow(why)
})
