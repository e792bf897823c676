import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { examineObject, isProvenAgain, proveObject, proveWritten } from '../../../src/api/archives/prove-object.ts'
import { unpackMembers } from '../../../src/api/archives/unpack-lines.ts'
import { layOut, packRest } from '../../../src/api/archives/pack-object.ts'
import { plant } from '../../helpers/harms.ts'
import { archivedChat, archivedMessage, linesOf } from '../../helpers/made-archive.ts'

const MB = 1024 * 1024
let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cursordex-long-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function linesOfLongChat(): string[] {
  const said = (id: string) => archivedMessage(id, { parts: [{ kind: 'text', text: `${id} ${'ä'.repeat(MB)}` }] })
  return linesOf(
    archivedChat('long'),
    Array.from({ length: 14 }, (_, at) => said(`m${at}`)),
  )
}

test('a long chat is checked without unpacking it completely', async () => {
  const lines = linesOfLongChat().map((line) => `${line}\n`)
  const { members, hash, content, bytes, messages } = await packRest(layOut(lines))
  expect(members).toHaveLength(4)
  const lengths = [...unpackMembers(Buffer.concat(members))].map(({ length }) => length)
  expect(Math.max(...lengths)).toBeLessThan(9 * MB)
  plant(dir, Buffer.concat(members))
  const entry = { id: 'long', object: hash, content, bytes, revision: 1, messages: [...messages] }
  expect(proveObject(dir, entry)).toMatchObject({ kind: 'sound', value: { content, bytes } })
  expect(isProvenAgain(dir, entry, lines)).toBe(true)
  for (const others of [lines.slice(0, -1), [...lines, '{}\n'], [...lines.slice(0, -1), 'x']]) {
    expect([proveWritten(dir, entry, others), isProvenAgain(dir, entry, others)]).toEqual(['other', false])
  }
  expect(isProvenAgain(dir, { ...entry, messages: messages.slice(1) }, lines)).toBe(false)
})

test('a text that is cut off, has a wrong checksum or comes from another program is damaged', () => {
  const whole = gzipSync(linesOf(archivedChat('a'), [archivedMessage('a1')]).join('\n'))
  const other = Buffer.from(whole)
  other[other.length - 8] = (other[other.length - 8] ?? 0) ^ 1
  for (const bytes of [whole.subarray(0, -1), whole.subarray(0, 40), other, Buffer.concat([whole, Buffer.alloc(20)])]) {
    expect(examineObject(dir, plant(dir, bytes))).toMatchObject({
      kind: 'damaged',
      why: expect.stringMatching(/cannot be unpacked/),
    })
  }
  expect(examineObject(dir, plant(dir, whole))).toMatchObject({ why: 'its last line is cut off' })
})
