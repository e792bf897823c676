import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import type { TokensAnswer } from '../../../src/api/http/schemas/tokens.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

const coverageOf = async (url: string): Promise<TokensAnswer['coverage']> =>
  (await getJson<TokensAnswer>(url, '/api/tokens?groupBy=chat')).coverage

test('the tokens of all messages are estimated after a while, hard texts too, and no count is lost at a kill', async () => {
  const store = place.cursor.global()
  const hard = ['a'.repeat(300_000), '数据库'.repeat(50_000), `x${' '.repeat(200_000)}`, '<|endoftext|>'.repeat(5000)]
  fillStore(store, { chats: 5, messagesPerChat: 10 })
  for (const [index, text] of hard.entries()) store.message('hard', `m${index}`, { type: 2, text })
  store.chat('hard', { fullConversationHeadersOnly: headers(hard.map((_, index) => `m${index}`)) })
  const first = await place.serve()
  await untilReady(first.url)
  const all = { messages: 54, recorded: 0, estimated: 54, unknown: 0 }
  await waitUntil('all counts', async () => (await coverageOf(first.url)).unknown === 0, { everyMs: 200 })
  expect(await coverageOf(first.url)).toEqual(all)
  await first.daemon.stop('SIGKILL')
  const second = await place.serve()
  expect(await coverageOf(second.url)).toEqual(all)
})

test('with tokens.estimate false nothing is counted, and the status says so', async () => {
  fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 5 })
  const config = join(place.root, 'config.json')
  writeFileSync(config, '{ "tokens": { "estimate": false } }')
  const { url } = await place.serve(['--config', config])
  await untilReady(url)
  expect((await getStatus(url)) as unknown).toMatchObject({ estimation: { state: 'off', left: null } })
  expect(await coverageOf(url)).toEqual({ messages: 10, recorded: 0, estimated: 0, unknown: 10 })
})
