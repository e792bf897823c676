import { hash as digest } from 'node:crypto'
import type { Part } from '../model/part.ts'

/** The texts of a message as they are compared between sources: by their words, whatever the white space. */
export const comparableTexts = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => (part.kind === 'text' ? (comparable(part.text) ?? []) : []))

function comparable(text: string): string | null {
  const words = text.replace(/\s+/g, ' ').trim()
  return words === '' ? null : words
}

/** 48 bits that are equal for messages of the same text; null where there is none. */
export function textKey(parts: readonly Part[]): number | null {
  const texts = comparableTexts(parts)
  return texts.length === 0 ? null : parseInt(digest('sha256', texts.join('\u0000')).slice(0, 12), 16)
}
