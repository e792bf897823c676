import type { Mirror } from '../../../mirror/open.ts'
import { findsAny } from '../match/count-found.ts'
import type { Deadline } from '../deadline.ts'
import { echo } from '../language/echo.ts'
import { printQuery } from '../language/print.ts'
import type { ParsedQuery } from '../language/parse.ts'
import { allOf, type QueryNode } from '../language/tree.ts'
import type { SearchAnswer, SearchRequest } from '../request.ts'
import { readAsked, type Asked } from './asked.ts'
import { findRelated, type Related } from './find-related.ts'
import { inflectionsOf } from './inflections.ts'

/**
 * Finds the chats that come closest to a query whose strict answer holds few. A pasted command is full of flags such as
 * `-d`. If nothing is left when they are read as exclusions, they are read as words.
 * @param answer the strict answer; its chats are left out
 */
export function relateChats(
  db: Mirror,
  { tree, quoted }: Pick<ParsedQuery, 'tree' | 'quoted'>,
  request: Pick<SearchRequest, 'filters' | 'clock'>,
  { items, total }: Pick<SearchAnswer, 'items' | 'total'>,
  deadline: Deadline,
): Related {
  const isWhole = items.length > 0 && items.length === total
  if (tree === null || (isWhole && asksOneForm(db, readAsked(tree, quoted)))) return { chats: [], warnings: [] }
  const shown = new Set<string>(items.map(({ chat }) => chat.id))
  const related = (asked: QueryNode | null): Related =>
    findRelated(db, { tree: asked, quoted }, request, shown, deadline)
  const nodes = tree.kind === 'and' ? tree.nodes : [tree]
  const flags = nodes.flatMap((node) => (node.kind === 'not' && isOfWords(node.node) ? [node] : []))
  if (flags.length === 0 || items.length > 0) return related(tree)
  const others = nodes.filter((node) => !flags.some((flag) => flag === node))
  // Something is found without the exclusions, so the text was copied and they are flags.
  const found = findsAny(db, allOf(others), request, deadline) ? null : related(tree)
  if (found !== null && found.chats.length > 0) return found
  const { chats, warnings } = related(allOf([...others, ...flags.map(({ node }) => node)]))
  const said = flags.map((flag) => echo(printQuery(flag))).join(' ')
  const warning = `Nothing is left without ${said}: for the closest chats this was read as words.`
  return { chats, warnings: chats.length === 0 ? warnings : [warning, ...warnings] }
}

/** Whether the query is one word without parts and without other forms. Then the strict answer lists all that holds it. */
function asksOneForm(db: Mirror, { words, required, language }: Asked): boolean {
  const [term, ...others] = words.flatMap(({ terms }) => terms)
  if (term === undefined || others.length > 0 || required.length > 0) return false
  return inflectionsOf(db, term, language).length === 1
}

/** `-d`, and `-input=false`, which is two words. */
const isOfWords = (node: QueryNode): boolean =>
  node.kind === 'words' || (node.kind === 'and' && node.nodes.every(isOfWords))
