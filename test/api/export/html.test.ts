import { createHash } from 'node:crypto'
import { assert, constantFrom, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HEADER_CSP } from '../../../src/api/export/formats.ts'
import type { Part } from '../../../src/model/part.ts'
import {
  fileOf,
  hostileChat,
  hostileMessages,
  hostileParts,
  messageOf,
  plainChat,
  shown,
  unescaped,
} from './hostile-chat.ts'
import type { Message } from '../../../src/api/answers/messages.ts'

const pageOf = (parts: readonly Part[]): string => fileOf('html', plainChat, [messageOf('m', parts)])

const hostile = fileOf('html', hostileChat, hostileMessages)

/** The tags of a page but for the style's content, which is CSS. */
const tagsOf = (html: string): string[] =>
  [...html.replace(/<style>[^<]*<\/style>/u, '').matchAll(/<[^>]*>/gu)].map(([tag]) => tag)

/** What a reader sees of the thread. */
const textOf = (html: string): string => unescaped(html.slice(html.indexOf('<main>')).replace(/<[^>]*>/gu, ''))

const known =
  /^<(?:!doctype html|html lang="en"|meta (?:charset|http-equiv|name)="[\w-]+"(?: content="[^"]*")?|\/?(?:head|title|body|header|h1|h2|dl|dt|dd|main|article|pre|code|details|summary|div|span|p|time|a|html)|(?:div|p) class="(?:text" dir="auto|name)"|h1 dir="auto"|article id="[a-z0-9-]+" class="(?:user|assistant)"|time datetime="[\d:.TZ-]+"|a href="#[a-z0-9-]+" aria-label="Link to this message")>$/u

describe('a chat full of markup', () => {
  it('gives no tag and no attribute but those of the page itself', () => {
    expect(tagsOf(hostile).filter((tag) => !known.test(tag))).toEqual([])
    expect(tagsOf(hostile).length).toBeGreaterThan(300)
  })

  it('opens and closes each of them', () => {
    const open: string[] = []
    const closedWrongly: string[] = []
    for (const tag of tagsOf(hostile)) {
      const [, slash, name = ''] = /^<(\/?)([\w!]+)/u.exec(tag) ?? []
      if (slash !== '/' && name !== '!doctype' && name !== 'meta') open.push(name)
      if (slash === '/' && open.pop() !== name) closedWrongly.push(tag)
    }
    expect({ open, closedWrongly }).toEqual({ open: [], closedWrongly: [] })
  })

  it('gives no sign that is not seen', () => {
    expect(hostile).not.toMatch(/[^\P{Cc}\t\n]|[\p{Bidi_Control}\p{Surrogate}]/u)
    expect(textOf(hostile)).toContain(String.raw`\x00\x1b]52;c;cm0gLXJm\x07\x1b[2J\x08\x7f\x9b2J\x0d`)
    expect(textOf(hostile)).toContain(String.raw`user\u202enimda\u202c \u2066x\u2069 \u200e\u200f\u061c`)
    expect(textOf(hostile)).toContain(String.raw`half \ud83d and other half \ude00`)
  })

  it('has its title in its three places as text', () => {
    const title = /<title>([^<]*)<\/title>/u.exec(hostile)?.[1] ?? ''
    expect(unescaped(title)).toBe(shown(hostileChat.title))
    expect(hostile).toContain(`<h1 dir="auto">${title}</h1>`)
  })

  it.each(hostileParts.map((part) => [part.kind, part] as const))('shows all of a %s', (_, part) => {
    // A fenced block stands apart: white space around it is the page's.
    const letters = (text: string) => text.replace(/\s+/gu, ' ')
    const seen = letters(textOf(pageOf([part])))
    const strings: string[] = []
    JSON.stringify(part, (key, value: unknown) => {
      const isHidden = key === 'kind' || key === 'callId' || key === 'id' || key === 'input'
      if (typeof value === 'string' && !isHidden) strings.push(value)
      return key === 'input' ? null : value
    })
    expect(strings.length).toBeGreaterThan(0)
    for (const text of strings) expect(seen).toContain(letters(shown(text.trim())))
  })
})

it('whatever a text holds, the page shows it, and nothing of it is markup', () => {
  const text = string({
    unit: constantFrom('<', '>', '&', '"', "'", '`', '~', '\n', '\r', '\u001b', '\ud83d', 'a', ' ', '-->'),
  })
  const wraps: readonly ((text: string) => Part)[] = [
    (each) => ({ kind: 'text', text: each }),
    (each) => ({ kind: 'error', text: each }),
    (each) => ({ kind: 'code', language: null, path: each, text: each }),
  ]
  assert(
    property(text, constantFrom(...wraps), (given, wrap) => {
      const html = pageOf([wrap(given)])
      expect(tagsOf(html).filter((tag) => !known.test(tag))).toEqual([])
      const letters = (of: string) => of.replace(/\s+/gu, '')
      // A carriage return at an end is white space there and shown within.
      expect(letters(textOf(html)).replaceAll(String.raw`\x0d`, '')).toContain(
        letters(shown(given)).replaceAll(String.raw`\x0d`, ''),
      )
    }),
  )
})

describe('the page by itself', () => {
  it('allows its one style by hash, and nothing else', () => {
    const styles = [...hostile.matchAll(/<style>([^]*?)<\/style>/gu)].map(([, style]) => style ?? '')
    expect(styles).toHaveLength(1)
    const hash = createHash('sha256').update(styles.join('')).digest('base64')
    const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
    expect(hostile).toContain(`<meta http-equiv="content-security-policy" content="${policy}">`)
    expect(HEADER_CSP).toBe(`${policy}; frame-ancestors 'none'; sandbox`)
    expect(styles.join('')).not.toMatch(/url\(|@import|@font-face|https?:/u)
  })

  it('says its encoding before anything else could be read', () => {
    expect(hostile.indexOf('<meta charset="utf-8">')).toBeLessThan(100)
    expect(hostile).toMatch(/^<!doctype html>\n<html lang="en">\n/u)
    expect(hostile).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
  })

  it('links each message to itself, by a name that no other has', () => {
    const thread = Array.from({ length: 300 }, (_, position) => messageOf(`"><b>${position}`, [], { position }))
    const html = fileOf('html', plainChat, [...thread, ...hostileMessages.slice(2)])
    const ids = [...html.matchAll(/<article id="([^"]*)"/gu)].map(([, id]) => id ?? '')
    const links = [...html.matchAll(/ href="#([^"]*)"/gu)].map(([, id]) => id ?? '')
    expect(new Set(ids).size).toBe(301)
    expect(links).toEqual(ids)
    expect(ids.filter((id) => !/^(m\d+|orphan)-[0-9a-f]{8,12}$/u.test(id))).toEqual([])
  })

  it('tells tokens that were estimated as estimated, and no count of Cursor’s as that', () => {
    const told = (tokens: Message['tokens']) =>
      textOf(fileOf('html', plainChat, [messageOf('m', [], { tokens })])).split('\n')
    expect(told({ input: 12_345, output: 0, source: 'estimated' })).toContain('12,345 tokens, estimated')
    expect(told({ input: null, output: 7, source: 'recorded' })).toContain('7 tokens out')
    expect(told({ input: 7, output: null, source: 'recorded' })).toContain('7 tokens in')
  })

  it('tells of a message who, when, by which model, and what is unusual', () => {
    const told = (more: object) =>
      textOf(fileOf('html', plainChat, [messageOf('m', [], more)]))
        .trim()
        .split('\n')
    expect(told({ position: 4, model: 'gpt-5', tokens: { input: 12_345, output: 6, source: 'recorded' } })).toEqual(
      expect.arrayContaining(['Assistant', '2026-02-19 20:30:00 UTC', 'gpt-5', '12,345 tokens in, 6 out', '#4']),
    )
    const odd = { role: 'user', isOrphan: true, isSimulated: true, deletedInCursor: true, createdAtSource: 'chat' }
    expect(told(odd)).toEqual(
      expect.arrayContaining([
        'User',
        'about 2026-02-19 20:30:00 UTC',
        'orphan',
        'sent by Cursor',
        'deleted in Cursor',
      ]),
    )
    expect(told({ createdAt: null }).join()).not.toMatch(/UTC|null/u)
  })

  it('hides tools and thoughts until they are opened', () => {
    const tool: Part = {
      kind: 'tool',
      name: 'grep',
      status: 'completed',
      callId: null,
      input: { q: 'x' },
      output: '',
      error: null,
      paths: ['a.ts'],
    }
    const html = pageOf([{ kind: 'thinking', text: 'hm', durationMs: null }, tool])
    expect(html.match(/<details>/gu)).toHaveLength(2)
    expect(textOf(html)).toContain('grep completed a.ts')
    expect(textOf(html)).not.toContain('Output')
  })
})
