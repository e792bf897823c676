import { describe, expect, it } from 'vitest'
import { chatsOf, keys, pieceOf, saidIn } from './items.ts'

const prompts = (...texts: readonly string[]) => texts.map((text) => ({ text, commandType: 4 }))
const idsOf = (...texts: readonly string[]): string[] =>
  chatsOf(keys.prompts, prompts(...texts)).flatMap(({ messages }) => messages.map(({ id }) => id))

describe('the prompts of a workspace', () => {
  it('are one chat without a name or a time, in the order in which they were typed', () => {
    const [chat, ...others] = chatsOf(keys.prompts, prompts('a', 'b', 'a'))
    expect(others).toEqual([])
    expect(chat).toMatchObject({
      id: 'prompts-w1',
      facts: { format: 'prompts', name: null, createdAtMs: null, updatedAtMs: null },
    })
    expect(saidIn(chat)).toEqual(['user: a', 'user: b', 'user: a'])
    expect(chat?.outline?.map(({ id }) => id)).toEqual(chat?.messages.map(({ id }) => id))
    expect(chat?.messages.every(({ sentAtMs, timingAtMs }) => sentAtMs === null && timingAtMs === null)).toBe(true)
  })

  it('keep their ids when the oldest drop out of the list', () => {
    const [, b, c] = idsOf('a', 'b', 'c')
    expect(idsOf('b', 'c', 'd').slice(0, 2)).toEqual([b, c])
  })

  it('with the same text have different ids', () => {
    const ids = idsOf('a', 'b', 'a', 'a')
    expect(new Set(ids).size).toBe(4)
    expect(ids).toEqual(expect.arrayContaining(idsOf('b', 'a', 'a')))
  })

  it('have other ids in another workspace', () => {
    const other = pieceOf(keys.prompts, prompts('a'), { id: 'w2', rootUri: null }).chats[0]
    expect(other?.id).toBe('prompts-w2')
    expect(idsOf('a')).not.toContain(other?.messages[0]?.id)
  })

  it('without text are left out, and an empty list is no chat', () => {
    expect(saidIn(chatsOf(keys.prompts, [{ text: ' ' }, null, 'a', {}, { text: 'b' }])[0])).toEqual(['user: b'])
    expect(chatsOf(keys.prompts, [])).toEqual([])
    expect(chatsOf(keys.prompts, [{ text: '' }])).toEqual([])
  })
})
