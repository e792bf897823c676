import { afterEach, beforeEach, expect, test } from 'vitest'
import { Workplace } from '../../../helpers/spawn-cursordex.ts'
import { hideSecrets } from './hide-secrets.ts'
import { hiddenIn, lookEverywhere } from './look-everywhere.ts'
import { foundIn, tokenOf } from './tokens.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

test('no token, key or draft of Cursor appears anywhere else', async () => {
  const places = hideSecrets(place.cursor)
  expect(hiddenIn(place.cursor, places)).toEqual(places)
  expect(new Set(places.map(tokenOf)).size).toBe(places.length)
  const found = await lookEverywhere(place, places)
  const count = Object.values(found).flat().length
  console.log(`canaries: ${places.length} hidden, looked for in ${Object.keys(found).length} places, ${count} found`)
  expect(places.length).toBeGreaterThan(30)
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((where) => [where, []])))
})

test('the test finds a word in bytes of any encoding', () => {
  const token = tokenOf('one')
  const [narrow, wide] = [Buffer.from(`ab${token}`), Buffer.from(token, 'utf16le')]
  const kept: readonly (Buffer | string)[] = [
    narrow,
    wide,
    Buffer.from(wide).swap16(),
    narrow.toString('base64'),
    narrow.subarray(1).toString('base64'),
    narrow.subarray(2).toString('base64url'),
    narrow.toString('hex'),
    narrow.toString('hex').toUpperCase(),
    wide.toString('hex'),
    token.slice(4),
  ]
  for (const bytes of kept) expect([bytes, foundIn(bytes, ['one', 'another'])]).toEqual([bytes, ['one']])
})
