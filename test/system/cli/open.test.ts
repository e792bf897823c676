import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'

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

test.skipIf(process.platform === 'win32')(
  'with a token no browser is started: others could read its command line',
  async () => {
    const { url } = await place.serve(['--auth'])
    const { stdout, stderr } = await place.run(['open', 'orchard'], { env })
    const token = readFileSync(join(place.dataDir, 'token'), 'utf8').trim()
    expect([stdout, stderr]).toEqual([`${url}/chats/orchard#token=${token}\n`, 'Open this address:\n'])
    expect(existsSync(join(place.root, 'opened'))).toBe(false)
  },
)

test('without a browser the address is printed, and without a daemon the error says how to start one', async () => {
  const alone = await place.run(['open'])
  expect([alone.exitCode, alone.stderr]).toEqual([1, expect.stringContaining('cursordex serve')])
  const { url } = await place.serve()
  const { exitCode, stdout } = await place.run(['open'], { env: { PATH: join(place.root, 'empty') } })
  expect([exitCode, stdout]).toEqual([0, `${url}/\n`])
})
