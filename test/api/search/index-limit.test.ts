import { afterAll, beforeAll, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { Cursordex } from '../../helpers/spawn-cursordex.ts'
import { World } from '../../helpers/world.ts'

const MAX = 2_000_000
/** A text of this many characters: filler between a first and a last word. */
const filled = (first: string, characters: number, last = ''): string => {
  const filler = 'filler words '.repeat(Math.ceil(characters / 13))
  return `${first} ${filler}`.slice(0, characters - last.length - 1) + (last === '' ? '.' : ` ${last}`)
}
const code = (content: string): object => ({ content, languageId: 'ts' })

const rows: Readonly<Record<string, object>> = {
  // 2,000,001 characters in two parts of the same kind.
  over: { codeBlocks: [code(filled('ottercove', 1_000_001)), code(filled('heronpond', 1_000_000, 'wrenlast'))] },
  // The maximum length, and another part of a different kind.
  exact: { text: 'a walrusbay', codeBlocks: [code(filled('plovermere', MAX - 9)), code('ternrocks')] },
  // Counts characters, even if one takes two UTF-16 units.
  pairs: { text: `puffincliff ${'🦉'.repeat(MAX - 21)} gullpier` },
  error: { text: `gannetrock ${'x '.repeat(999_990)}`, errorDetails: { message: 'dunlinbeach' } },
}
const asked = {
  over: ['ottercove', 'heronpond'],
  exact: ['walrusbay', 'plovermere', 'ternrocks'],
  pairs: ['puffincliff', 'gullpier'],
}

let world: World
const ask = async (path: string, query: Readonly<Record<string, string>>): Promise<Record<string, unknown>> =>
  world.get(`${path}?${new URLSearchParams(query).toString()}`)

beforeAll(async () => {
  world = await World.open()
  const store = world.home.global()
  const ids = Object.keys(rows)
  for (const [id, row] of Object.entries(rows)) store.message('long', id, { type: 2, text: '', ...row })
  store.chat('long', { name: 'Long', fullConversationHeadersOnly: headers(ids) })
  store.message('short', 's1', { type: 1, text: 'a small ottercove' })
  store.chat('short', { name: 'Short', fullConversationHeadersOnly: headers(['s1']) })
  await world.sync()
})
afterAll(() => world.remove())

interface Shown {
  readonly id: string
  readonly isIndexCapped: boolean
}

test('a message with one character too many of a kind is marked as capped, and one at the limit is not', async () => {
  const { items } = (await ask('/api/chats/long/messages', {})) as { items: readonly Shown[] }
  expect(items.filter(({ isIndexCapped }) => isIndexCapped).map(({ id }) => id)).toEqual(['over'])
})

test.each(Object.entries(asked))('the first 2,000,000 characters of %s are found', async (id, words) => {
  for (const q of words) {
    const { items } = (await ask('/api/search', { q, chat: 'long' })) as { items: readonly { message: Shown }[] }
    expect({ q, ids: items.map(({ message }) => message.id) }).toEqual({ q, ids: [id] })
  }
})

const WARNING = expect.stringContaining('too long to be indexed whole')

test('a search limited to such a chat by field or filter warns, and others do not', async () => {
  expect((await ask('/api/search', { q: 'chat:long ottercove' }))['warnings']).toContainEqual(WARNING)
  expect((await ask('/api/search', { q: 'wrenfirst', chat: 'long' }))['warnings']).toContainEqual(WARNING)
  for (const query of [{ q: 'ottercove' }, { q: 'ottercove', chat: 'short' }, { q: '-chat:long ottercove' }]) {
    const { warnings } = await ask('/api/search', query)
    expect({ query, warnings }).not.toEqual({ query, warnings: expect.arrayContaining([WARNING]) })
  }
})

test('the command line shows it for the search and for the message', async () => {
  const places = ['--data-dir', world.settings.dataDir, '--cursor-user-dir', '', '--cursor-home', '']
  const search = await new Cursordex(['search', 'chat:long ottercove', ...places]).ended
  expect(search.stderr).toContain('1 message of this chat is too long to be indexed whole')
  const show = await new Cursordex(['show', 'long', ...places]).ended
  expect(show.stdout).toContain('only partly indexed')
})
