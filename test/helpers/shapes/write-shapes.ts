import { headers, type Store } from '../cursor.ts'
import { writeLines } from '../write-lines.ts'
import { iso, minute } from './writer.ts'

/** Chats in every format that Cursor has used, complete and damaged, and rows of every kind, each with sound neighbours. */
export function writeShapes(store: Store): void {
  writeLines(store, new URL('chats.jsonl', import.meta.url))
  writeLines(store, new URL('rows.jsonl', import.meta.url))
  writeLong(store)
  writeEncodings(store)
  writeUnreadable(store)
}

/** More messages than fit into one answer. */
function writeLong(store: Store): void {
  const ids = Array.from({ length: 230 }, (_, at) => `n${at}`)
  store.chat('long', { name: 'A long one', createdAt: minute(200), fullConversationHeadersOnly: headers(ids) })
  for (const [at, id] of ids.toReversed().entries()) {
    const type = (ids.length - 1 - at) % 2 === 0 ? 1 : 2
    store.message('long', id, { type, text: `Number ${id}`, createdAt: iso(500 - at) })
  }
}

/** Rows as bytes, and bytes that are no text. */
function writeEncodings(store: Store): void {
  const bytes = (value: object): Buffer => Buffer.from(JSON.stringify(value))
  store.put('composerData:bytes', bytes({ name: 'In bytes', fullConversationHeadersOnly: headers(['m1', 'm2']) }))
  const question = { type: 1, text: 'Bytes of a question: \u00e4\u20ac\u{1f600}', createdAt: iso(500) }
  store.put('bubbleId:bytes:m1', bytes(question))
  store.put('bubbleId:bytes:m2', bytes({ type: 2, text: 'Bytes of an answer', createdAt: iso(501) }))

  const broken = (text: string): Buffer => {
    const [before = '', after = ''] = JSON.stringify({ type: 1, text, createdAt: iso(502) }).split('@')
    return Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc3, 0x28, 0xe2, 0x82]), Buffer.from(after)])
  }
  store.put('bubbleId:broken-signs:m1', broken('broken @ in bytes'))
  const insert = 'insert into cursorDiskKV (key, value) values (?, cast(? as text))'
  store.db.prepare(insert).run('bubbleId:broken-signs:m2', broken('broken @ in text'))
}

/** Rows that are too large, too deep, or under a key that is no text. */
function writeUnreadable(store: Store): void {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const call = `{"name":"deep_call","status":"completed","params":"{}","result":${deep}}`
  store.put('bubbleId:unreadable:m4', `{"type":2,"text":"${'x'.repeat(33 * 1024 * 1024)}"}`)
  store.put('bubbleId:unreadable:m5', `{"type":2,"text":"Deep beside","deep":${deep},"createdAt":"${iso(515)}"}`)
  store.put(
    'bubbleId:unreadable:m8',
    `{"type":2,"text":"Deep inside","toolFormerData":${call},"createdAt":"${iso(518)}"}`,
  )
  const insert = `insert into cursorDiskKV (key, value) values (cast(? as text), '{"type":1,"text":"Under a broken key"}')`
  store.db.prepare(insert).run(Buffer.concat([Buffer.from('bubbleId:broken-key'), Buffer.from([0xff, 0x3a, 0x6d])]))
}
