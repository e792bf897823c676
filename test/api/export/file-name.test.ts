import { assert, property, string } from 'fast-check'
import { expect, it } from 'vitest'
import { fileNameOf } from '../../../src/api/export/formats.ts'
import { asChatId } from '../../../src/model/ids.ts'

const nameOf = (title: string, id = 'c1') => fileNameOf({ id: asChatId(id), title }, 'md')

it.each([
  ['Fix the login', /^Fix-the-login-[0-9a-f]{8}\.md$/u],
  ['../../etc/passwd', /^etc-passwd-[0-9a-f]{8}\.md$/u],
  ['a"; filename="b.exe\r\nset-cookie: x', /^a-filename-b-exe-set-cookie-x-[0-9a-f]{8}\.md$/u],
  ['漢字 ไทย', /^chat-[0-9a-f]{8}\.md$/u],
  ['--rf snake_case', /^rf-snake_case-[0-9a-f]{8}\.md$/u],
  ['', /^chat-[0-9a-f]{8}\.md$/u],
  [`${'x'.repeat(39)} yz`, /^x{39}-[0-9a-f]{8}\.md$/u],
])('the title %j gives a safe name', (title, name) => {
  expect(nameOf(title)).toMatch(name)
})

it('is safe whatever the title is, and tells chats of one title apart', () => {
  assert(
    property(string({ unit: 'binary' }), (title) => {
      expect(nameOf(title)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,48}\.md$/u)
    }),
  )
  expect(nameOf('same', 'c1')).not.toBe(nameOf('same', 'c2'))
})
