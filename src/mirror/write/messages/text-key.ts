import { hash as digest } from 'node:crypto'
import type { Part } from '../../../model/part.ts'

const NEEDS_FOLDING = /\s\s|[^\S ]/

/** By its words, whatever the white space; null where there are none. */
export function comparable(text: string): string | null {
  // Looking is cheaper than replacing each space by itself, and most lines of a talk need no more.
  const words = (NEEDS_FOLDING.test(text) ? text.replace(/\s+/g, ' ') : text).trim()
  return words === '' ? null : words
}

const shortHash = (text: string): string => digest('sha256', text).slice(0, 12)

/** 48 bits that are equal for messages of the same words; null where there are none. */
export function textKey(parts: readonly Part[]): number | null {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? (comparable(part.text) ?? []) : []))
  return texts.length === 0 ? null : parseInt(shortHash(texts.join('\u0000')), 16)
}

/**
 * The texts of a message as they are compared between sources, a short hash for each. Empty for a message of nothing but
 * tool calls; null for one that says something else which cannot be compared.
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

/** The keys of which `textKeys` made one text; none where there was nothing to compare. */
export const splitTextKeys = (keys: string | null): string[] => (keys ?? '').split(' ').filter((key) => key !== '')
