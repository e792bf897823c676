import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openManifest, readHead, sealManifest, type Manifest } from '../../src/archive/manifest.ts'
import { sealedText } from '../helpers/sealed-text.ts'

const NAME = '20261121T030000Z-weekly'
const hash = (digit: string): string => digit.repeat(64)

const sound: Manifest = {
  format: 'cursordex-archive',
  version: 1,
  name: NAME,
  createdAt: '2026-11-21T03:00:00.000Z',
  provenAt: '2026-11-21T03:00:09.000Z',
  job: 'weekly',
  scope: null,
  program: { name: 'cursordex', version: '0.1.0', schema: 3 },
  origin: 'a mirror',
  chatCount: 2,
  messageCount: 3,
  bytes: 30,
  chats: [
    { id: 'one', object: hash('a'), content: hash('b'), bytes: 10, revision: 4, messages: [hash('c'), hash('d')] },
    { id: 't"wo\n', object: hash('e'), content: hash('f'), bytes: 20, revision: 5, messages: [hash('0')] },
  ],
}

const open = (text: string) => openManifest(text, NAME)
const whyOf = (text: string): string => {
  const read = open(text)
  return read.kind === 'damaged' ? read.why : 'sound'
}

test('a sealed manifest is opened unchanged', () => {
  const read = open(sealedText(sound))
  expect(read).toMatchObject({ kind: 'sound', value: sound })
})

test('a manifest with chats left out is opened unchanged, and its head names them too', () => {
  const more = { ...sound, leftOut: [{ id: 'three', why: 'line 1 is not JSON' }] }
  expect(open(sealedText(more))).toMatchObject({ kind: 'sound', value: more })
  expect(readHead(sealedText(more), NAME)).toMatchObject({ kind: 'sound', value: { leftOut: more.leftOut } })
  expect(whyOf(sealedText({ ...sound, leftOut: [{ id: 'three' }] as never }))).toMatch(/leftOut/)
})

test('a manifest may have no chats', () => {
  expect(open(sealedText({ ...sound, chats: [], chatCount: 0, messageCount: 0 })).kind).toBe('sound')
})

test('any byte that is changed, removed or inserted is noticed', () => {
  const text = sealedText(sound)
  for (let at = 0; at < text.length; at += 1) {
    const other = text[at] === '7' ? '8' : '7'
    expect(whyOf(text.slice(0, at) + other + text.slice(at + 1)), `changed at ${at}`).not.toBe('sound')
    expect(whyOf(text.slice(0, at) + text.slice(at + 1)), `left out at ${at}`).not.toBe('sound')
    expect(whyOf(`${text.slice(0, at)}7${text.slice(at)}`), `put in at ${at}`).not.toBe('sound')
    expect(whyOf(text.slice(0, at)), `cut at ${at}`).not.toBe('sound')
  }
})

test.each<[claim: string, change: Partial<Manifest>, why: RegExp]>([
  ['another format', { format: 'other' as never }, /format/],
  ['a version to come', { version: 2 as never }, /version/],
  ['another name', { name: '20261121T030001Z-weekly' }, /names itself/],
  ['a name that is a path', { name: '../../x' }, /name/],
  ['counts of other chats', { chatCount: 3 }, /counts/],
  ['a chat named twice', { chats: [sound.chats[0], sound.chats[0]] as never, messageCount: 4 }, /twice/],
  ['an object that is a path', { chats: [{ ...sound.chats[0], object: '../x' }] as never }, /object/],
  ['more than is known', { extra: 1 } as never, /extra/i],
])('a well sealed manifest with %s is damaged, and says so', (_, change, why) => {
  expect(whyOf(sealedText({ ...sound, ...change }))).toMatch(why)
})

test('no text makes the reader throw', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(open(text).kind).toBe('damaged')
    }),
  )
})

test('a large manifest is written in pieces of a megabyte', () => {
  const messages = Array.from({ length: 50_000 }, () => hash('d'))
  const chats = ['one', 'two'].flatMap((id) => sound.chats.slice(0, 1).map((chat) => ({ ...chat, id, messages })))
  const large: Manifest = { ...sound, messageCount: 100_000, chats }
  const pieces = [...sealManifest(large)]
  expect(pieces.length).toBeGreaterThan(2)
  expect(open(Buffer.concat(pieces).toString())).toMatchObject({ kind: 'sound', value: large })
})
