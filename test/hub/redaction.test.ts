import { afterAll, beforeAll, expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { leaksIn, secretKinds, secretTexts } from '../helpers/secret-corpus.ts'
import { HubWorld, say } from './hub-world.ts'

let world: HubWorld
beforeAll(async () => {
  world = await HubWorld.start()
  await world.renew()
})
afterAll(() => world.remove())

const letters = 'q8Zr2Lk9Vt4Xb7Nc1Mw6Ys3Pd5Hf0Jg8Ra2Te4Ui6Oy'
const cut = (length: number): string => letters.slice(0, length)

/** Ten kinds of keys. None is a real one. They are put together here, so that no scanner finds them in this file. */
const keys: Readonly<Record<string, string>> = {
  github: `ghp_${cut(36)}`,
  aws: ['AKIA', 'Z7QK3MPX5TR2WB6N'].join(''),
  openai: `sk-proj-${letters}`,
  anthropic: `sk-ant-api03-${letters}`,
  slack: ['xoxb', '839204857613', '5839204718264', cut(24)].join('-'),
  stripe: ['sk', 'live', cut(24)].join('_'),
  google: `AIza${cut(35)}`,
  npm: `npm_${cut(36)}`,
  gitlab: `glpat-${cut(20)}`,
  url: `postgres://svc:${cut(16)}@db.internal/prod`,
}

test('planted keys of ten kinds, and the path of the folder, are in no row; with redaction off they are', async () => {
  const ada = world.machine('ada', 'admin', { redact: true })
  const texts = Object.entries(keys).map(([name, key]) => `Use this for ${name}: ${key} and go on.`)
  const chat = texts.flatMap((text) => [text, 'Done.'])
  await say(ada, 'one', chat, { project: '/srv/of-ada/shop' })
  await ada.push()
  const found = async (): Promise<string[]> => {
    const text = (await world.objects()).join()
    return Object.entries(keys).flatMap(([name, key]) =>
      text.includes(key) || text.includes(letters.slice(0, 16)) ? name : [],
    )
  }
  expect(await found()).toEqual([])
  expect((await world.objects()).join()).not.toContain('/srv/of-ada')
  const [row] = await world.server.sql<{ project: string }>('select project from cursordex.chats', world.url)
  expect(row?.project).toMatch(/^admin shop#[\da-f]{16}$/)
  const settings = { push: { ...ada.settings.push, redact: false } }
  expect(await ada.sharing(settings).push()).toMatchObject({ pushed: 1 })
  expect(await found()).toEqual(Object.keys(keys))
})

test('no kind of secret of the corpus is in a pushed row, in text, thinking, code, tools or titles', async () => {
  await world.renew()
  const ada = world.machine('ada', 'admin', { redact: true })
  const store = ada.home.global()
  const createdAt = new Date(Date.UTC(2026, 1, 3, 8)).toISOString()
  const ids = secretTexts.flatMap((_, at) => [`q${at}`, `a${at}`, `t${at}`])
  store.chat('corpus', { name: 'corpus', createdAt: Date.parse(createdAt), fullConversationHeadersOnly: headers(ids) })
  for (const [at, { text }] of secretTexts.entries()) {
    store.message('corpus', `q${at}`, { _v: 3, type: 1, text, createdAt })
    const codeBlocks = [{ content: text, languageId: 'sh', uri: { fsPath: '/tmp/a.sh' } }]
    store.message('corpus', `a${at}`, { _v: 3, type: 2, thinking: { text }, codeBlocks, createdAt })
    const call = { name: 'run_terminal_cmd', status: 'completed', toolCallId: `c${at}` }
    const [params, result] = [{ command: text }, { output: text }].map((given) => JSON.stringify(given))
    store.message('corpus', `t${at}`, { _v: 3, type: 2, toolFormerData: { ...call, params, result }, createdAt })
  }
  for (const [at, kind] of [...secretKinds].entries()) {
    const name = secretTexts.find((each) => each.kind === kind)?.text ?? ''
    store.chat(`titled-${at}`, {
      name,
      createdAt: Date.parse(createdAt),
      fullConversationHeadersOnly: headers([`m${at}`]),
    })
    store.message(`titled-${at}`, `m${at}`, { _v: 3, type: 1, text: 'hello', createdAt })
  }
  store.close()
  await ada.sync()
  expect(await ada.push()).toMatchObject({ pushed: secretKinds.size + 1 })
  const text = (await world.objects()).join('\n')
  expect(text.match(/run_terminal_cmd/g)).toHaveLength(secretTexts.length)
  expect(text.match(/masked: github-token/g)?.length).toBeGreaterThan(20)
  expect(leaksIn(text)).toEqual([])
})
