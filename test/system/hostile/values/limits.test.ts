import { afterEach, beforeEach, expect, test } from 'vitest'
import { World } from '../../../helpers/world.ts'

const MB = 1024 * 1024
const OCTETS_MAX = 32 * MB

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.remove())

/** A message value with exactly this many bytes. */
function ofSize(octets: number): string {
  const [start, end] = ['{"type":1,"text":"', '"}']
  const length = octets - start.length - end.length
  return start + 'lorem ipsum '.repeat(Math.ceil(length / 12)).slice(0, length) + end
}

test('values up to the limit are messages, the next byte is an issue, and their neighbours are read', async () => {
  const store = world.home.global()
  const sizes = [4 * MB, 4 * MB + 1, OCTETS_MAX, OCTETS_MAX + 1]
  for (const octets of sizes) {
    const value = ofSize(octets)
    expect(Buffer.byteLength(value)).toBe(octets)
    store.put(`bubbleId:chat-${octets}:large`, value)
    store.message('beside', `m${octets}`, { type: 1, text: `Beside ${octets}` })
  }
  await world.sync()
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(await world.get('/api/status')).toMatchObject({ issues: { 'too-large': 1 }, counts: { messages: 7 } })
  expect(await world.thread('beside')).toHaveLength(sizes.length)
  expect(await world.found('Beside')).toHaveLength(sizes.length)
})
