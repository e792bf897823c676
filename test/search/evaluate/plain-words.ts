import type { Ask } from '../corpus/planted.ts'

const field = /-?\b(?:project|role|in|tool|model|mode|path|chat|before|after|on|is|has):(?:"[^"]*"|\S+)/g

/** The words of a question without what only its language knows: for searches that know no operators. */
export function plainWords({ q, plain }: Ask): readonly string[] {
  return (plain ?? q)
    .replaceAll(field, ' ')
    .replaceAll(/(?<=^|\s)-(?:"[^"]*"|\([^)]*\)|[^\s"-]\S*)/g, ' ')
    .replaceAll(/["“”„]|(?<=^|\s)\*|\*(?=$|\s)|\bOR\b/g, ' ')
    .replaceAll(/(?<=^|\s)\(|\)(?=$|\s)/g, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
}

/** Case, accents and width folded, in a way of its own: what is looked for here must not depend on the indexer. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
}
