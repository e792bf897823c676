import { hash as digest } from 'node:crypto'
import type { Part } from '../../../model/part.ts'

/** White space that is not a single space. Most is, and replacing each by itself takes five times as long. */
const WHITE_SPACE = /[^\S ]\s*| \s+/g

/** The text with normalised white space, for comparison; null if it has no words. */
export function comparable(text: string): string | null {
  const words = text.replace(WHITE_SPACE, ' ').trim()
  return words === '' ? null : words
}

const shortHash = (text: string): string => digest('sha256', text).slice(0, 12)

/** A 48-bit hash that is equal for messages with the same words; null if there are none. */
export function textKey(parts: readonly Part[]): number | null {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? (comparable(part.text) ?? []) : []))
  return texts.length === 0 ? null : parseInt(shortHash(texts.join('\u0000')), 16)
}

/**
 * Short hashes of a message's texts, to compare messages of several sources. Empty for a message of only tool calls; null
 * if the message has other content that cannot be compared.
 */
export function textKeys(parts: readonly Part[]): string | null {
  const keys = parts.flatMap((part) => {
    const text =
      part.kind === 'text' || part.kind === 'error' || part.kind === 'thinking' ? comparable(part.text) : null
    return text === null ? [] : [shortHash(text)]
  })
  if (keys.length > 0) return keys.join(' ')
  return parts.every((part) => part.kind === 'tool') ? '' : null
}

/** Splits the result of `textKeys`. Empty if there was nothing to compare. */
export const splitTextKeys = (keys: string | null): string[] => (keys ?? '').split(' ').filter((key) => key !== '')
