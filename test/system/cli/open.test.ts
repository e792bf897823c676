import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
let env: Record<string, string>
beforeEach(() => {
  place = new Workplace()
  const store = place.cursor.global()
  store.chat('orchard', { name: 'The orchard', fullConversationHeadersOnly: [{ bubbleId: 'a', type: 1 }] })
  store.message('orchard', 'a', { type: 1, text: 'Where is the plum?' })
  // An opener that only notes what it should open.
  const bin = join(place.root, 'bin')
  mkdirSync(bin)
  for (const name of ['xdg-open', 'open']) {
    const notes = [`echo "$*" >> "${join(place.root, 'opened')}"`, `env >> "${join(place.root, 'env')}"`]
    writeFileSync(join(bin, name), `#!/bin/sh\n${notes.join('\n')}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` }
})
afterEach(() => place.remove())

const opened = (): string[] => readFileSync(join(place.root, 'opened'), 'utf8').trim().split('\n')

test.skipIf(process.platform === 'win32')('the page opens at all chats, at a chat, and at a search', async () => {
  const { url } = await place.serve()
  await untilReady(url)
  for (const words of [[], ['orch'], ['plum', 'tree'], ['no-such-chat']]) {
    expect(await place.run(['open', ...words], { env })).toMatchObject({ exitCode: 0, stdout: '' })
  }
  expect(opened()).toEqual([`${url}/`, `${url}/chats/orchard`, `${url}/?q=plum+tree`, `${url}/?q=no-such-chat`])
  const printed = await place.run(['open', '--print', 'plum'], { env })
  expect(printed.stdout).toBe(`${url}/?q=plum\n`)
  expect(opened()).toHaveLength(4)
})

test.skipIf(process.platform === 'win32')('other accounts cannot read the token that the browser gets', async () => {
  const { url } = await place.serve(['--auth'])
  const { stdout, stderr } = await place.run(['open', 'orchard'], { env })
  const token = readFileSync(join(place.dataDir, 'token'), 'utf8').trim()
  const seen = `${opened().join('')}${readFileSync(join(place.root, 'env'), 'utf8')}${stdout}${stderr}`
  expect([seen.includes(token), seen.includes(encodeURIComponent(token))]).toEqual([false, false])
  expect(stderr).toContain(`Opened ${url}/chats/orchard\n`)
  const page = fileURLToPath(opened()[0] ?? '')
  expect([page, dirname(page), place.dataDir].map((path) => statSync(path).mode & 0o077)).toEqual([0, 0, 0])
  // As the browser does it: the page is asked for without the fragment, and sends what the fragment says.
  const [, address = ''] = /content="0; url=([^"]+)"/.exec(readFileSync(page, 'utf8')) ?? []
  expect(address).toBe(`${url}/chats/orchard#token=${token}`)
  const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  // Node's own fetch replaces these headers.
  const status = new Promise((resolve) => {
    request(address, { headers: visit }, (answer) => resolve(answer.resume().statusCode)).end()
  })
  expect(await status).toBe(200)
  const headers = { authorization: `Bearer ${new URL(address).hash.slice('#token='.length)}` }
  expect((await fetch(`${url}/api/chats/orchard`, { headers })).status).toBe(200)
  expect((await fetch(`${url}/api/chats/orchard`)).status).toBe(401)
  const longAgo = Date.now() / 1000 - 120
  utimesSync(dirname(page), longAgo, longAgo)
  await waitUntil('the page to be removed', () => !existsSync(page), { withinMs: 10_000 })
})

test.skipIf(process.platform === 'win32')('a page that no browser could open is removed at once', async () => {
  await place.serve(['--auth'])
  const { stdout } = await place.run(['open'], { env: { PATH: join(place.root, 'empty') } })
  const token = readFileSync(join(place.dataDir, 'token'), 'utf8').trim()
  expect(stdout).toContain(`#token=${token}\n`)
  expect(existsSync(join(place.dataDir, 'pages'))).toBe(false)
})

test('without a browser the address is printed, and without a daemon the error says how to start one', async () => {
  const alone = await place.run(['open'])
  expect([alone.exitCode, alone.stderr]).toEqual([1, expect.stringContaining('cursordex serve')])
  const { url } = await place.serve()
  const { exitCode, stdout } = await place.run(['open'], { env: { PATH: join(place.root, 'empty') } })
  expect([exitCode, stdout]).toEqual([0, `${url}/\n`])
})
