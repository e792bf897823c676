import type { Mirror } from '../../../mirror/open.ts'
import type { QueryNode } from '../language/tree.ts'
import { valuesOf } from '../match/statement.ts'

const COUNT_CAPPED = `
  select count(*) from messages m
  where m.chat in (select num from chats where id in (select value from json_each(@ids)))
    and m.is_index_capped = 1 and m.is_orphan <> 2
`

/** Warns in a search within given chats if some of their messages are too long to be indexed completely. */
export function warnOfCapped(db: Mirror, trees: readonly QueryNode[]): readonly string[] {
  const ids = trees.flatMap(namedChats)
  if (ids.length === 0) return []
  const count = valuesOf<number>(db, COUNT_CAPPED).get({ ids: JSON.stringify(ids) }) ?? 0
  if (count === 0) return []
  const what = count === 1 ? '1 message of this chat is' : `${count.toLocaleString('en-US')} messages here are`
  return [`${what} too long to be indexed whole: words near the end of such a message are not found.`]
}

/** The ids of the chats in which the search looks, without excluded ones. */
function namedChats(node: QueryNode): readonly string[] {
  if (node.kind === 'field') return node.name === 'chat' ? node.values : []
  return node.kind === 'and' || node.kind === 'or' ? node.nodes.flatMap(namedChats) : []
}
