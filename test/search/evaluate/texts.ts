import type { Mirror } from '../../../src/mirror/open.ts'
import type { Part } from '../../../src/model/part.ts'
import { searchColumns } from '../../../src/text/terms/columns.ts'
import type { Hit } from './engine.ts'

export interface Text extends Hit {
  readonly text: string
}

/** The searchable texts of a mirror as written: whole messages and chat titles. The rivals index the same texts. */
export function textsOf(mirror: Mirror): readonly Text[] {
  const messages = mirror
    .prepare<[], { messageId: string; chatId: string; parts: string }>(
      `select messages.id as messageId, chats.id as chatId, parts
       from messages join chats on chats.num = chat join bodies on bodies.num = body order by key`,
    )
    .all()
  const titles = mirror
    .prepare<[], Text>('select null as messageId, id as chatId, title as text from chats order by num')
    .all()
  return [
    ...messages.map(({ messageId, chatId, parts }) => {
      const { columns } = searchColumns(JSON.parse(parts) as readonly Part[])
      return { messageId, chatId, text: Object.values(columns).join('\n') }
    }),
    ...titles,
  ]
}
