import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { initHub } from '../../src/hub/init.ts'
import { withHub } from '../../src/hub/client.ts'
import { headers } from '../../src/sample/cursor-home.ts'
import { Machine } from './machine.ts'
import { PgServer } from './pg-server.ts'

let server: PgServer
let url: string
const machines: Machine[] = []

beforeAll(async () => {
  server = await PgServer.start()
})
afterAll(() => server.remove())
afterEach(() => {
  for (const machine of machines.splice(0)) machine.remove()
})

async function setUp(...labels: readonly string[]): Promise<Machine[]> {
  url = await server.database('hub')
  await withHub(url, initHub)
  machines.push(...labels.map((label) => new Machine(url, label)))
  return machines
}

/** Adds a chat with these messages, and reads it. */
async function say(machine: Machine, chat: string, ...texts: readonly string[]): Promise<void> {
  const store = machine.home.global()
  store.chat(chat, {
    name: `Chat ${chat}`,
    createdAt: 1_762_000_000_000,
    fullConversationHeadersOnly: headers(texts.map((_, at) => `${chat}-${at}`)),
  })
  for (const [at, text] of texts.entries()) {
    store.message(chat, `${chat}-${at}`, {
      _v: 3,
      type: (at % 2) + 1,
      text,
      createdAt: new Date(1_762_000_000_000 + at * 60_000).toISOString(),
    })
  }
  store.close()
  await machine.sync()
}

test('what one machine pushes, another one pulls; a second time nothing moves; one message more moves its chat alone', async () => {
  const [ada, bob] = (await setUp('ada', 'bob')) as [Machine, Machine]
  await say(ada, 'one', 'first words', 'an answer')
  await say(ada, 'two', 'other words')
  await bob.sync()
  expect(await ada.push()).toMatchObject({ pushed: 2, removed: 0, unchanged: 0 })
  expect(await bob.pull()).toMatchObject({ pulled: 2, removed: 0 })
  expect(bob.words()).toEqual(ada.words())
  expect(await ada.push()).toMatchObject({ pushed: 0, unchanged: 2, bytes: 0 })
  expect(await bob.pull()).toMatchObject({ pulled: 0, unchanged: 2, bytes: 0 })
  await say(ada, 'one', 'first words', 'an answer', 'and one more')
  expect(await ada.push()).toMatchObject({ pushed: 1, unchanged: 1 })
  expect(await bob.pull()).toMatchObject({ pulled: 1, unchanged: 1 })
  expect(bob.words()).toEqual(ada.words())
  // Pulled chats are not pushed on.
  expect(await bob.push().catch((error: unknown) => error)).toMatchObject({ pushed: 0, unchanged: 0 })
})
