import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Source } from '../../../src/indexer/source.ts'
import type { Piece } from '../../../src/indexer/open-safely/whole-store.ts'
import { writeWhole } from '../../../src/indexer/open-safely/write-whole.ts'
import { asSourceId } from '../../../src/model/ids.ts'
import { decodeDiary } from './decode.ts'

/** An invented format: a folder of diaries, one chat each. It shows how little code a new format needs. */
export function diarySources(root: string, decoder = 1): Source[] {
  const path = join(root, 'diaries')
  const source: Source = {
    id: asSourceId('diaries'),
    kind: 'diaries',
    rank: 5,
    path,
    folder: path,
    files: [],
    decoder,
    isAlwaysWarm: false,
    signature: () => (existsSync(path) ? listDiaries(path).map(stateOf).join(' ') : null),
    *pass(mirror, request) {
      const signature = source.signature()
      if (signature === null) return { state: 'missing', detail: null, again: [] }
      const pieces = listDiaries(path).map((diary) => readDiary(diary, decoder))
      const store = { workspaces: [], identity: path, signature, bytesRead: 0, longestReadMs: 0 }
      yield* writeWhole(mirror, source, { ...store, pieces }, request)
      return { state: 'ok', detail: null, again: [] }
    },
  }
  return [source]
}

const listDiaries = (path: string): string[] =>
  readdirSync(path)
    .sort()
    .map((name) => join(path, name))

function stateOf(path: string): string {
  const { size, mtimeNs } = statSync(path, { bigint: true })
  return `${path}:${size}:${mtimeNs}`
}

function readDiary(path: string, decoder: number): Piece {
  const bytes = readFileSync(path)
  return {
    key: path,
    octets: bytes.length,
    checksum: crc32(bytes),
    evidence: [],
    heads: [],
    ...decodeDiary(path, bytes, decoder),
  }
}
