import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Message } from '../../../src/api/answers/messages.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import { headers } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
let world: World
let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cursordex-images-'))
  world = await World.open()
})
afterEach(async () => {
  await world.remove()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string): string => join(folder, name)

async function attach(...paths: readonly unknown[]): Promise<void> {
  const store = world.home.global()
  store.chat('a', { fullConversationHeadersOnly: headers(['m']) })
  store.message('a', 'm', { type: 1, text: 'see these', images: paths })
  await world.sync()
}

const parts = async (): Promise<Message['parts']> =>
  (await world.get<Page<Message>>('/api/chats/a/messages')).items.flatMap((message) => message.parts.slice(1))

/** The status, type and bytes of an answer. */
async function ask(path: string, message = 'm', chat = 'a'): Promise<unknown[]> {
  const response = await world.request(`/api/chats/${chat}/image?${new URLSearchParams({ message, path }).toString()}`)
  return [response.status, response.headers.get('content-type'), (await response.arrayBuffer()).byteLength]
}

test('an attached image has type and size, and is served, while its file is there', async () => {
  writeFileSync(at('a b#?.png'), PNG)
  await attach(at('a b#?.png'), at('gone.webp'), 'relative.png', '//host/share/x.png', { path: at('note.txt') })
  const [image, gone, ...others] = await parts()
  expect(image).toMatchObject({ kind: 'attachment', mime: 'image/png', bytes: PNG.length, exists: true })
  expect(gone).toMatchObject({ path: at('gone.webp'), mime: 'image/webp', bytes: null, exists: false })
  expect(gone).not.toHaveProperty('href')
  expect(others.map((part) => 'mime' in part)).toEqual([false, false, false])
  const response = await world.request((image as { href: string }).href)
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG)
  rmSync(at('a b#?.png'))
  expect((await parts())[0]).toMatchObject({ bytes: null, exists: false })
})

test('nothing but an attached image is served', async () => {
  mkdirSync(at('folder.png'))
  writeFileSync(at('text.png'), 'a secret, and no image')
  writeFileSync(at('secret.png'), PNG)
  writeFileSync(at('page.svg'), '<svg onload="x()"/>')
  symlinkSync('/etc/passwd', at('link.png'))
  writeFileSync(at('good.png'), PNG)
  const given = ['folder.png', 'text.png', 'page.svg', 'link.png', 'good.png'].map(at)
  await attach(...given, '/etc/passwd', '/dev/zero', `${folder}/../x.png`)
  expect(await ask(at('good.png'))).toEqual([200, 'image/png', PNG.length])
  const refused = [...given.slice(0, 4), at('secret.png'), '/etc/passwd', '/dev/zero', `${folder}/x/../secret.png`, '']
  for (const path of refused) expect([path, (await ask(path))[0]]).toEqual([path, path === '' ? 400 : 404])
  expect((await ask(at('good.png'), 'other'))[0]).toBe(404)
  expect((await ask(at('good.png'), 'm', 'b'))[0]).toBe(404)
})

test('a chat of another machine names no file of this one', async () => {
  writeFileSync(at('good.png'), PNG)
  await attach(at('good.png'))
  await world.restart(() => {
    const db = new Database(world.mirrorPath)
    db.pragma('foreign_keys = off')
    db.exec(`update chats set machine = 1`)
    db.close()
  })
  expect((await ask(at('good.png')))[0]).toBe(404)
  expect((await parts())[0]).not.toHaveProperty('exists')
})
