import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cursordex, getJson, untilReady } from '../helpers/spawn-cursordex.ts'
import { waitUntil } from '../helpers/wait-until.ts'

const place = mkdtempSync(join(tmpdir(), 'cursordex-place-'))
let demo: Cursordex
let url: string
const get = <Answer>(path: string): Promise<Answer> => getJson<Answer>(url, path)

beforeAll(async () => {
  demo = new Cursordex(['demo'], { env: { TMPDIR: place, TEMP: place, TMP: place } })
  url = await demo.listening()
  await untilReady(url)
})

afterAll(async () => {
  await demo.stop()
  rmSync(place, { recursive: true, force: true })
})

interface Losses {
  readonly total: number
  readonly items: readonly { readonly kind: string; readonly chatId: string }[]
}

test('while the demo runs, a chat and a message are lost, and the lost chat is still found', async () => {
  const { items } = await waitUntil('two losses', async () => {
    const losses = await get<Losses>('/api/losses')
    return losses.total === 2 ? losses : null
  })
  expect(items.map(({ kind }) => kind).toSorted()).toEqual(['chat', 'message'])
  const lost = items.find(({ kind }) => kind === 'chat')?.chatId ?? ''
  const { total } = await get<{ total: number }>(`/api/chats/${lost}/messages`)
  expect(total).toBeGreaterThan(3)
})

test('recorded tokens have a price', async () => {
  const { stdout } = await new Cursordex(['tokens', '--group-by', 'model', '--data-dir', dataDir()]).ended
  expect(stdout).toMatch(/^claude-3\.5-sonnet\t.*\$\d+\.\d\d/m)
  expect(stdout).not.toContain('are not priced: the price list')
})

const dataDir = (): string => /--data-dir (\S+)/.exec(demo.stdout)?.[1] ?? ''

test('commits of a real repository have their chats', async () => {
  const { stdout } = await new Cursordex(['commits', '--repo', 'tide-tables', '--data-dir', dataDir()]).ended
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/添加 isHigh\thigh\t添加高潮判断函数/)
  expect(lines[1]).toMatch(/Use the real period of a tide\thigh\tTides drift by an hour a day/)
  expect(lines[2]).toContain('First version\t-')
})
