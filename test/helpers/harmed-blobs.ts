import { bytesField, numberField } from './cursor.ts'

/** Useless blobs, each in place of a useful one. */
export const harmedBlobs: readonly (readonly [string, Buffer | null])[] = [
  ['gone', null],
  ['empty', Buffer.alloc(0)],
  ['cut off', Buffer.from([0x0a, 0x20, 1, 2])],
  ['words', Buffer.from('these are words')],
  ['JSON', Buffer.from('{"role":"user"}')],
  ['zeros', Buffer.alloc(64)],
  ['all ones', Buffer.alloc(64, 0xff)],
  ['a number', numberField(1, Date.UTC(2026, 5, 2))],
  ['a number in place of steps', Buffer.concat([numberField(1, 1), numberField(2, 2)])],
  ['an id that is short', bytesField(1, Buffer.alloc(31, 1))],
  ['an id that is long', bytesField(1, Buffer.alloc(33, 1))],
  ['another field', bytesField(99, Buffer.from('new'))],
  ['a varint without end', Buffer.alloc(20, 0x80)],
  ['a length beyond the end', Buffer.from([0x12, 0xff, 0xff, 0x7f])],
  [
    'nested a thousand times',
    Array.from({ length: 1000 }).reduce<Buffer>((inner) => bytesField(1, inner), Buffer.alloc(1)),
  ],
  ['huge', bytesField(7, Buffer.alloc(4_000_000, 0x61))],
  ['huge text', bytesField(1, Buffer.alloc(4_000_000, 0xe4))],
  ['fixed numbers', Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8])],
  ['a group', Buffer.from([0x0b, 0x0c])],
  ['text for ids', Buffer.concat([bytesField(1, Buffer.from('one')), bytesField(2, Buffer.from('two'))])],
]
