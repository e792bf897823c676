import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { stateOf } from '../../helpers/restored-mirror.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'

interface List<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

interface ChatAnswer {
  readonly id: string
  readonly source: string
  readonly origin: string | null
  readonly deletedInCursor: boolean
  readonly project: { readonly id: string; readonly name: string } | null
}

let theirs: Workplace
let ours: Workplace
let stick: string

/** A machine with one chat about a shop. */
function machine(chatId: string, folder: string, word: string): Workplace {
  const place = new Workplace()
  const store = place.cursor.global()
  store.chat(chatId, { name: `Of ${chatId}`, fullConversationHeadersOnly: headers(['m1']) })
  const createdAt = '2026-02-01T00:00:00.000Z'
  store.message(chatId, 'm1', { type: 1, text: `the ${word} in ${folder}/main.ts`, createdAt })
  place.cursor.workspace('w1', { folder: `file://${folder}` }, [chatId])
  return place
}

beforeEach(async () => {
  theirs = machine('theirs', '/Users/a/shop', 'walnut')
  ours = machine('ours', '/home/b/shop', 'apple')
  stick = mkdtempSync(join(tmpdir(), 'cursordex-stick-'))
  const made = await theirs.run(['archive', 'run'])
  if (made.exitCode !== 0) throw new Error(made.stderr)
  cpSync(join(theirs.dataDir, 'archives'), join(stick, 'archives'), { recursive: true })
})
afterEach(async () => {
  await Promise.all([theirs.remove(), ours.remove()])
  rmSync(stick, { recursive: true, force: true })
})

const from = (): string => join(stick, 'archives')

test('a restore leaves out chats of excluded projects, and brings them once the project is included', async () => {
  const config = join(stick, 'config.json')
  writeFileSync(config, JSON.stringify({ exclude: { projects: ['/home/b/*'] } }))
  const restore = ['archive', 'restore', '--from', from(), '--map', '/Users/a=/home/b', '--json']
  const without = await ours.run([...restore, '--config', config])
  expect(without).toMatchObject({ exitCode: 0, stderr: '' })
  expect(JSON.parse(without.stdout)).toMatchObject({ added: 0, addedChats: 0 })
  const asked = await ours.run(['chats', '--json', '--config', config])
  expect(JSON.parse(asked.stdout)).toMatchObject({ total: 0 })
  const found = await ours.run([...restore])
  expect(JSON.parse(found.stdout)).toMatchObject({ added: 1, addedChats: 1 })
})

test('an archive of another machine is merged into one project, is found, and shows its origin', async () => {
  const before = stateOf(stick)
  const restored = await ours.run(['archive', 'restore', '--from', from(), '--map', '/Users/a=/home/b', '--json'])
  expect([restored.exitCode, restored.stderr]).toEqual([0, ''])
  expect(JSON.parse(restored.stdout)).toMatchObject({ ok: true, chats: 1, messages: 1, added: 1, addedChats: 1 })
  // The other archive folder is only read.
  expect(stateOf(stick)).toEqual(before)
  const { url } = await ours.serve()
  await untilReady(url)
  const chats = await getJson<List<ChatAnswer>>(url, '/api/chats')
  const byId = new Map(chats.items.map((chat) => [chat.id, chat]))
  expect(new Set(chats.items.map(({ project }) => project?.id)).size).toBe(1)
  expect(byId.get('ours')).toMatchObject({ origin: null, deletedInCursor: false, project: { name: 'shop' } })
  expect(byId.get('theirs')).toMatchObject({ origin: expect.stringMatching(/^\w{32}$/), deletedInCursor: true })
  expect(await getJson(url, '/api/projects')).toMatchObject({
    total: 1,
    items: [{ path: '/home/b/shop', chatCount: 2 }],
  })
  expect(await getJson(url, '/api/search?q=walnut&project=shop')).toMatchObject({ total: 1 })
  // Texts are not changed.
  const { items } = await getJson<List<{ parts: readonly { text: string }[] }>>(url, '/api/chats/theirs/messages')
  expect(items[0]?.parts[0]?.text).toBe('the walnut in /Users/a/shop/main.ts')
})

test('what names no folder, no archive or one place twice is refused with the reason', async () => {
  const refused: readonly [flags: readonly string[], why: RegExp, exitCode: number][] = [
    [['--map', '/Users/a'], /--map \/Users\/a does not name two folders/, 2],
    [['--map', '/a=/b', '--map', '/a/=/c'], /is mapped twice/, 2],
    [['--from', '/nowhere/at/all'], /There is no archive in/, 1],
    [['20200101T000000Z-none'], /No archive has this name: ".*-none"\.\s+List what there is with: /, 1],
  ]
  for (const [flags, why, exitCode] of refused) {
    const ended = await ours.run(['archive', 'restore', ...flags])
    expect([ended.stderr, ended.exitCode]).toEqual([expect.stringMatching(why), exitCode])
  }
})
