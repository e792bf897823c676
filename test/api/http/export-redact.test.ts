import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApi, type TestApi } from './test-api.ts'

const github = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`
const openai = `sk-proj-${'Zx9'.repeat(16)}`
const aws = 'wJa1rXUtnFEM1K7MDENGbPxRf1CYzzzzzzzzKEY9'
const pem = `-----BEGIN RSA PRIVATE KEY-----\nMIIE${'qW3e'.repeat(20)}\n-----END RSA PRIVATE KEY-----`
const keyed = `glpat-${'q1W2'.repeat(6)}`
const secrets = [github, openai, aws, 'c0rrect-h0rse', 'qW3eqW3e', keyed]

let api: TestApi

beforeAll(() => {
  api = createTestApi()
  const chat = api.mirror.addChat({ id: 'leaky', title: `Use ${github} for it` })
  api.mirror.addMessage(chat, {
    id: 'm1',
    position: 0,
    parts: [
      { kind: 'text', text: `Here: ${github}, and **${openai}**\n\n${pem}\nThat is all, with "quotes" & <signs>.` },
      { kind: 'thinking', text: `they gave me ${openai}`, durationMs: null },
      { kind: 'code', language: 'sh', path: `/tmp/${github}.sh`, text: `export AWS_SECRET_ACCESS_KEY=${aws}` },
    ],
  })
  api.mirror.addMessage(chat, {
    id: 'm2',
    position: 1,
    parts: [
      {
        kind: 'tool',
        name: 'run',
        status: 'completed',
        callId: 'c1',
        input: { env: { DB_PASSWORD: 'c0rrect-h0rse' }, [keyed]: ['deep', { token: aws }] },
        output: `{"stdout":"{\\"password\\": \\"c0rrect-h0rse\\"}\\n${pem.replaceAll('\n', '\\n')}"}`,
        error: `refused: ${openai}`,
        paths: [],
      },
      { kind: 'attachment', path: 'a.env', text: `A=1\nTOKEN=${github}\n` },
      { kind: 'todo', items: [{ id: null, content: `revoke ${github}`, status: 'pending' }] },
      { kind: 'error', text: `bad key ${openai}` },
    ],
  })
})
afterAll(() => api.dispose())

const formats = ['markdown', 'json', 'jsonl', 'html'] as const

test.each(formats)('%s contains no secret, and says what was masked', async (as) => {
  const plain = await api.ask(`/api/chats/leaky/export?as=${as}`)
  expect(await plain.text()).toContain(github)
  const response = await api.ask(`/api/chats/leaky/export?as=${as}&redact=true`)
  const text = await response.text()
  for (const secret of secrets) expect([secret, text.includes(secret)]).toEqual([secret, false])
  expect(response.headers.get('content-disposition')).not.toContain('ghp')
  // Everything else is unchanged.
  for (const unmasked of ['That is all, with', 'revoke', 'deep', 'a.env', 'DB_PASSWORD'])
    expect(text).toContain(unmasked)
  const end = text.slice(-600)
  for (const rule of ['github-token', 'openai-key', 'private-key', 'named-secret', 'gitlab-token']) {
    expect(end).toContain(rule)
  }
})

interface Redacted {
  readonly messages: readonly { readonly parts: readonly unknown[] }[]
  readonly masked: readonly { readonly kind: string; readonly count: number }[]
  readonly maskedNote: string
}

test('machine-readable formats stay readable', async () => {
  const json = await (await api.ask('/api/chats/leaky/export?as=json&redact=true')).text()
  const file = JSON.parse(json) as Redacted
  expect(file.messages.map(({ parts }) => parts.length)).toEqual([3, 4])
  expect(file.masked).toContainEqual({ kind: 'gitlab-token', count: 1 })
  expect(file.masked).toContainEqual({ kind: 'private-key', count: 2 })
  const lines = (await (await api.ask('/api/chats/leaky/export?as=jsonl&redact=true')).text()).trim().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
    kind: 'masked',
    masked: file.masked,
    maskedNote: file.maskedNote,
  })
  const total = file.masked.reduce((sum, { count }) => sum + count, 0)
  expect(file.maskedNote).toMatch(new RegExp(`^Masked in this file: ${total} secrets .*No rule finds every secret`))
  const whole = await (await api.ask('/api/chats/leaky/export?as=json')).text()
  expect(Object.keys(JSON.parse(whole) as object)).not.toContain('masked')
})

test('a file without secrets says so', async () => {
  const chat = api.mirror.addChat({ id: 'clean' })
  api.mirror.addMessage(chat, { id: 'm1', parts: [{ kind: 'text', text: 'a quiet day' }] })
  const text = await (await api.ask('/api/chats/clean/export?redact=true')).text()
  expect(text).toMatch(/Masked in this file: nothing\. No rule finds every secret\.\n$/)
})
