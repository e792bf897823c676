import { hash as digest } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import type { Part } from '../../../src/model/part.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ store, indexer } = openIndexed())
})

/**
 * Stores a text as Cursor does.
 * @returns the name by which a message may refer to it
 */
function keep(text: string | Buffer): string {
  const name = `composer.content.${digest('sha256', text)}`
  store.put(name, text)
  return name
}

function write(value: Record<string, unknown>, id = 'm1'): void {
  store.chat('chat', { fullConversationHeadersOnly: headers([id]), createdAt: 1_760_000_000_000 })
  store.message('chat', id, { type: 1, text: 'look at this', ...value })
}

const partsOf = (id = 'm1'): readonly Part[] =>
  indexer.messages('chat').find((message) => message.id === id)?.parts ?? []
const attachments = (id?: string): readonly Part[] => partsOf(id).filter(({ kind }) => kind === 'attachment')

test('a pasted text that a message names is part of the message, and can be found', async () => {
  const name = keep('the gyroscope drifts')
  write({ context: { pasted: [{ fileName: 'notes.txt', contentId: name }] } })
  await indexer.pass()
  const hash = name.slice('composer.content.'.length)
  expect(attachments()).toEqual([{ kind: 'attachment', path: 'notes.txt', text: 'the gyroscope drifts', hash }])
  expect(indexer.found('gyroscope')).toBe(1)
})

test('a text that is written after its message is found by a full pass', async () => {
  const name = `composer.content.${digest('sha256', 'later')}`
  write({ context: { pasted: [name] } })
  await indexer.pass()
  expect(attachments()).toEqual([])
  store.put(name, 'later')
  await indexer.pass('values')
  expect(attachments()).toMatchObject([{ path: 'pasted text', text: 'later' }])
})

test('a rewritten message keeps its joined texts, and loses those it no longer names', async () => {
  const [one, two] = [keep('first'), keep('second')]
  write({ a: one, b: two })
  await indexer.pass()
  expect(attachments()).toMatchObject([{ text: 'first' }, { text: 'second' }])
  store.delete(one)
  write({ a: one, text: 'look at this again' })
  const outcome = await indexer.pass()
  expect(outcome.changed).toBe(1)
  expect(attachments()).toMatchObject([{ text: 'first' }])
  expect(partsOf()[0]).toMatchObject({ text: 'look at this again' })
  expect(await indexer.pass('values')).toMatchObject({ changed: 0, added: 0, gone: 0 })
})

test('a text of a message that is damaged in the mirror is joined when the message is read again', async () => {
  const name = `composer.content.${digest('sha256', 'later')}`
  write({ context: { pasted: [name] } })
  await indexer.pass()
  indexer.mirror.exec(`update bodies set parts = '[{"kind":"te'`)
  store.put(name, 'later')
  await indexer.pass('values')
  expect(indexer.mirror.prepare('select parts from bodies').pluck().all()).toEqual(['[{"kind":"te'])
  write({ context: { pasted: [name] }, text: 'look at this again' })
  await indexer.pass()
  expect(partsOf()).toMatchObject([{ text: 'look at this again' }, { text: 'later' }])
})

test('of a long text the beginning is stored, and marked as such', async () => {
  // Characters of three bytes, so that the cut falls into one.
  const most = 256 * 1024
  const text = '数'.repeat(most)
  write({ a: keep(text) })
  await indexer.pass()
  const [part] = attachments()
  expect(part).toMatchObject({ cappedFrom: most * 3 })
  const kept = part?.kind === 'attachment' ? (part.text ?? '') : ''
  expect(kept).toBe('数'.repeat(Math.floor(most / 3)))
})

test.each([
  ['bytes that are no text', Buffer.from([0x89, 0x50, 0, 1, 2])],
  ['bytes that are no UTF-8', Buffer.from([0xc3, 0x28, 0x41])],
])('%s are an attachment without a text', async (_, bytes) => {
  write({ a: keep(bytes) })
  await indexer.pass()
  expect(attachments()).toMatchObject([{ kind: 'attachment', text: null }])
})

describe('not joined are', () => {
  test('files before and after an edit', async () => {
    const name = keep('the whole file')
    const toolFormerData = {
      name: 'edit_file_v2',
      status: 'completed',
      result: JSON.stringify({ beforeContentId: name }),
    }
    write({ type: 2, text: 'done', toolFormerData })
    await indexer.pass()
    expect(attachments()).toEqual([])
    expect(indexer.found('whole')).toBe(0)
  })

  test('NULL values, until there is a value again', async () => {
    const name = keep('x')
    store.put(name, null)
    write({ a: name })
    await indexer.pass()
    expect(attachments()).toEqual([])
  })
})

test('a pass that finds no new request opens no file', async () => {
  write({ a: keep('once') })
  await indexer.pass()
  store.message('chat', 'm2', { type: 2, text: 'no question here' })
  const steps = await indexer.steps()
  const ofTexts = steps.filter(({ bytesRead }) => bytesRead > 0)
  expect(ofTexts.length).toBe(1)
})

test('many messages may name one text', async () => {
  const name = keep('shared by all')
  store.chat('chat', { fullConversationHeadersOnly: headers(['m1', 'm2']) })
  for (const id of ['m1', 'm2']) store.message('chat', id, { type: 1, text: `see ${id}`, a: name })
  await indexer.pass()
  for (const id of ['m1', 'm2']) expect(attachments(id)).toMatchObject([{ text: 'shared by all' }])
})
