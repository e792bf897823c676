import type { Ask } from '../corpus/planted.ts'

const field = /-?\b(?:project|role|in|tool|model|mode|path|chat|before|after|on|is|has):(?:"[^"]*"|\S+)/g

/** The words of a question without operators, for searches that have none. */
export function plainWords({ q, plain }: Ask): readonly string[] {
  return (plain ?? q)
    .replaceAll(field, ' ')
    .replaceAll(/(?<=^|\s)-(?:"[^"]*"|\([^)]*\)|[^\s"-]\S*)/g, ' ')
    .replaceAll(/["“”„]|(?<=^|\s)\*|\*(?=$|\s)|\bOR\b/g, ' ')
    .replaceAll(/(?<=^|\s)\(|\)(?=$|\s)/g, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
}

/** Folds case, accents and width. This is independent of the indexer's own folding, so that errors there are found. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
}
