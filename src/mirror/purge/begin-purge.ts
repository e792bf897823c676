import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { PurgeTargets } from './find-targets.ts'
import { removedTexts } from './removed-texts.ts'
import { needlesOf, type PurgeScope } from './scope.ts'
import { scrubFacts } from './scrub-facts.ts'
import { targetName } from './target-name.ts'
import { addTombstones, type RemovedText } from './tombstones.ts'

/** What an archive holds of what is to go, and the mirror does not. */
export interface ArchivedTargets {
  readonly chatIds: readonly ChatId[]
  /** Chats that would go whole by what the mirror holds, and in which more was said by then, as the archive knows. */
  readonly goingOn: readonly ChatId[]
  readonly messages: readonly { readonly chatId: ChatId; readonly id: MessageId }[]
  /** Texts of theirs, and of their chats, that hold the text that is looked for. */
  readonly texts: readonly RemovedText[]
}

const ADD_PURGE = `insert into purges (begun_at) values (?)`
const ADD_TARGET = `insert into purge_targets (kind, name) values (?, ?) on conflict do nothing`
const READ_MESSAGE = `
select messages.chat, messages.id, chats.id as chatId, bodies.parts
from messages join chats on chats.num = messages.chat join bodies on bodies.num = messages.body
where messages.key = ?
`
const IS_HELD = `select 1 from chats where id = ?`

interface MessageRow {
  readonly chat: number
  readonly id: MessageId
  readonly chatId: ChatId
  readonly parts: string
}

/**
 * Notes, in one transaction, what goes: from then on it cannot come back, and will be removed whatever happens. Nothing is
 * removed by it but what lists say of chats.
 */
export function beginPurge(
  db: Mirror,
  scope: PurgeScope,
  targets: PurgeTargets,
  archived: ArchivedTargets,
  nowMs: number,
): void {
  const needles = scope.match === null ? null : needlesOf(scope.match)
  db.transaction(() => {
    prepared(db, ADD_PURGE).run(nowMs)
    const time = { until: scope.beforeMs === null ? nowMs : scope.beforeMs - 1, sparesUntimed: scope.beforeMs !== null }
    const target = prepared(db, ADD_TARGET)
    const gone = archived.chatIds.filter((id) => prepared(db, IS_HELD).get(id) === undefined)
    addTombstones(db, {
      chats: [...targets.chatIds, ...gone],
      messages: archived.messages,
      texts: archived.texts,
      ...time,
    })
    for (const id of targets.chatIds) target.run('chat', id)
    for (const keys of targets.messages.values()) {
      for (const key of keys) {
        const row = prepared<MessageRow>(db, READ_MESSAGE).get(BigInt(key))
        if (row === undefined) continue
        target.run('message', targetName(row.chat, row.id))
        const texts = needles === null ? [] : removedTexts(partsOf(row), row.chatId, needles, scope)
        addTombstones(db, { chats: [], messages: [row], texts, ...time })
      }
    }
    scrubFacts(db, targets.facts, scope)
  })()
}

const partsOf = ({ parts }: MessageRow): readonly Part[] => JSON.parse(parts) as readonly Part[]
