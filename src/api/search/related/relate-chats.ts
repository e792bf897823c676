import type { Mirror } from '../../../mirror/open.ts'
import { findsAny } from '../count-found.ts'
import type { Deadline } from '../deadline.ts'
import { echo } from '../language/echo.ts'
import { printQuery } from '../language/print.ts'
import type { ParsedQuery } from '../language/parse.ts'
import { allOf } from '../language/tree.ts'
import type { SearchHit, SearchRequest } from '../request.ts'
import { findRelated, type Related } from './find-related.ts'

/**
 * The chats that come closest to a query, for an answer that holds few. A command that was pasted is full of flags: where
 * these, read as exclusions, leave nothing, they are read as words.
 * @param items the answer, whose chats are left out
 */
export function relateChats(
  db: Mirror,
  { tree, quoted }: Pick<ParsedQuery, 'tree' | 'quoted'>,
  request: Pick<SearchRequest, 'filters' | 'clock'>,
  items: readonly SearchHit[],
  deadline: Deadline,
): Related {
  if (tree === null) return { chats: [], warnings: [] }
  const shown = new Set<string>(items.map(({ chat }) => chat.id))
  const nodes = tree.kind === 'and' ? tree.nodes : [tree]
  const flags = nodes.filter((node) => node.kind === 'not' && node.node.kind === 'words')
  const others = nodes.filter((node) => !flags.includes(node))
  const areFlags = flags.length > 0 && items.length === 0 && findsAny(db, allOf(others), request, deadline)
  const related = areFlags ? null : findRelated(db, { tree, quoted }, request, shown, deadline)
  if (flags.length === 0 || (related !== null && (related.chats.length > 0 || items.length > 0))) {
    return related ?? { chats: [], warnings: [] }
  }
  const words = flags.map((node) => (node.kind === 'not' ? node.node : node))
  const asWords = findRelated(db, { tree: allOf([...others, ...words]), quoted }, request, shown, deadline)
  const said = `For the closest chats ${flags.map((node) => echo(printQuery(node))).join(' ')} was read as words: read as exclusions, nothing is left.`
  return { ...asWords, warnings: asWords.chats.length === 0 ? asWords.warnings : [said, ...asWords.warnings] }
}
