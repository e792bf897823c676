import { afterAll, beforeAll, expect, test } from 'vitest'
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
