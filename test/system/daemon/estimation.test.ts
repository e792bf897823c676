import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import type { TokensAnswer } from '../../../src/api/answers/tokens.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

const coverageOf = async (url: string): Promise<TokensAnswer['coverage']> =>
  (await getJson<TokensAnswer>(url, '/api/tokens?groupBy=chat')).coverage

test('every message has an estimate when it can be read, hard texts too, and a kill loses none', async () => {
  const store = place.cursor.global()
  const hard = ['a'.repeat(300_000), '数据库'.repeat(50_000), `x${' '.repeat(200_000)}`, '<|endoftext|>'.repeat(5000)]
  fillStore(store, { chats: 5, messagesPerChat: 10 })
  for (const [index, text] of hard.entries()) store.message('hard', `m${index}`, { type: 2, text })
  store.chat('hard', { fullConversationHeadersOnly: headers(hard.map((_, index) => `m${index}`)) })
  const all = { messages: 54, recorded: 0, estimated: 54, unknown: 0 }
  const first = await place.serve()
  await untilReady(first.url)
  expect(await coverageOf(first.url)).toEqual(all)
  await first.daemon.stop('SIGKILL')
  const second = await place.serve()
  expect(await coverageOf(second.url)).toEqual(all)
})
