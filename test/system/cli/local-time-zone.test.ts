import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'

describe('with a TZ that is not an IANA name', () => {
  const place = new Workplace()
  beforeAll(() => fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 }))
  afterAll(() => place.remove())

  test.each(['UTC+3', 'Nowhere/Land'])('TZ=%j: chats are listed all the same', async (TZ) => {
    const { exitCode, stdout, stderr } = await place.run(['chats'], { env: { TZ } })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain('chat-0')
  })
})

describe('with a daemon that was started in another zone', () => {
  const berlin = { env: { TZ: 'Europe/Berlin' } }
  const place = new Workplace()
  let url: string
  beforeAll(async () => {
    const store = place.cursor.global()
    // The last day of the year in UTC, and the first in Berlin.
    const createdAt = '2025-12-31T23:30:00.000Z'
    store.message('c', 'm', { type: 1, text: 'new year', createdAt })
    store.chat('c', { createdAt: Date.parse(createdAt), fullConversationHeadersOnly: headers(['m']) })
    const served = await place.serve([], { env: { TZ: 'UTC' } })
    url = served.url
    await untilReady(url)
  })
  afterAll(() => place.remove())

  test.each([
    [['chats', '--from', '2026-01-01']],
    [['search', 'on:2026-01-01']],
    [['search', 'year', '--from', '2026-01-01', '--to', '2026-01-02']],
    [['tokens', '--from', '2026-01-01', '--group-by', 'day']],
    [['stats']],
  ])('%j goes by the clock of who typed it', async (argv) => {
    const { stdout } = await place.run(argv, berlin)
    expect(stdout).toContain('2026-01-01')
    expect(stdout).not.toContain('2025-12-31')
  })

  test('a purge removes what is before the given day', async () => {
    expect((await place.run(['purge', '--before', '2026-01-01'], berlin)).stdout).toContain('0 messages')
    const named = await place.run(['purge', '--before', '2026-01-01', '--tz', 'UTC'], berlin)
    expect(named.stdout).toContain('1 message')
  })

  test('an archive holds what was said on the day that is meant', async () => {
    const run = ['archive', 'run', 'on:2026-01-01']
    expect((await place.run(run, berlin)).stdout).toContain('1 chat, 1 message')
    expect((await place.run(run, { env: { TZ: 'UTC' } })).stdout).toContain('0 chats')
  })
})
