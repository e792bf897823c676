import type { CodePart } from '../../../../model/part.ts'
import { asRecord, filledStringIn, listIn, type JsonRecord } from '../json/json-value.ts'
import { readUriPath } from '../common-fields.ts'

/** The row's code blocks, without those that the text already shows: newer builds write both. */
export function decodeCode(record: JsonRecord, text: string): readonly CodePart[] {
  const blocks = [...listIn(record, 'codeBlocks'), ...listIn(record, 'suggestedCodeBlocks')]
  const parts = blocks.map((block) => decodeCodeBlock(asRecord(block))).filter((part) => part !== null)
  return withoutCopies(parts.filter((part) => !text.includes(part.text.trim())))
}

export function decodeCodeBlock(block: JsonRecord | null): CodePart | null {
  const text = filledStringIn(block, 'content')
  if (text === null) return null
  return { kind: 'code', language: filledStringIn(block, 'languageId'), path: readUriPath(block?.['uri']), text }
}

/** A written file appears in up to three fields of its row, and only some of them have its path. */
export function withoutCopies(parts: readonly CodePart[]): readonly CodePart[] {
  if (parts.length < 2) return parts
  const textsWithPath = new Set(parts.filter((part) => part.path !== null).map((part) => part.text))
  const kept = new Map<string, CodePart>()
  for (const part of parts) {
    const key = `${part.path ?? ''}\0${part.text}`
    const isCopy = kept.has(key) || (part.path === null && textsWithPath.has(part.text))
    if (!isCopy) kept.set(key, part)
  }
  return [...kept.values()]
}
