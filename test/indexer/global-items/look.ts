import type { Piece, WholeContent } from '../../../src/indexer/open-safely/whole-store.ts'
import { readStore } from '../../../src/indexer/sources/global-items/read-store.ts'

export function contentOf(path: string): WholeContent {
  const found = readStore(path, null)
  if (found.kind !== 'whole') throw new Error(`expected a whole store, got ${found.kind}`)
  return found.content
}

export const evidenceOf = (pieces: readonly Piece[]): string[] => [
  ...new Set(
    pieces.flatMap(({ evidence }) => evidence.map(({ chatId, method, root }) => `${chatId} ${method} ${root.uri}`)),
  ),
]

export const issuesOf = (pieces: readonly Piece[]): string[] =>
  pieces.flatMap(({ key, issue }) => (issue === null ? [] : [`${key} ${issue}`]))
