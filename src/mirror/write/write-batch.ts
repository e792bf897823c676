import { hasEstimates } from '../usage/estimates.ts'
import { tellsFacts, type Batch, type BatchOutcome, type ChatWrite } from './batch.ts'
import { writeBlobCalls } from './pending-references.ts'
import { sealCommits } from '../fulltext/bulk.ts'
import { KeyAllocator } from './messages/key-allocator.ts'
import { Names } from './write-tools.ts'
import type { Mirror } from '../open.ts'
import { withoutExcluded } from '../projects/exclusion.ts'
import { withoutPurged } from '../purge/bars.ts'
import { PendingTerms } from '../fulltext/pending-terms.ts'
import { writeChatMetadata } from './chats/chat-metadata.ts'
import { writePaths } from './chats/chat-paths.ts'
import { RepeatedPrompts } from './chats/prompt-chats.ts'
import { HUB, SourceRanks } from '../sources/source-ranks.ts'
import { writeTracked } from '../usage/tracked.ts'
import { writeAnswers } from './messages/write-answers.ts'
import { refreshChat, writeChat } from './chats/write-chat.ts'
import { hideCopies } from '../hub/pulled-copy.ts'
import { prepared } from '../prepared.ts'
import { listingTerms } from './write-dictionary.ts'
import { writeEvidence, writeWorkspaces } from '../projects/write-projects.ts'
import { writePosition, writeRows } from './write-rows.ts'

/**
 * Writes rows, full-text rows, issues, evidence and position in one transaction. If the process is killed, the mirror has
 * either the whole batch or nothing of it. Writing the same batch twice changes nothing. Purged data and excluded
 * projects are left out.
 * @throws SqliteError if the disk is full or the mirror is damaged; then nothing was written
 */
export function writeBatch(db: Mirror, unfiltered: Batch): BatchOutcome {
  const batch = withoutExcluded(db, withoutPurged(db, unfiltered))
  const written = listingTerms(db, () => {
    if (!isOfHub(db, batch.source)) hideCopies(db, batch.chats.filter(hasContent))
    const terms = new PendingTerms()
    const tools = {
      terms,
      keys: new KeyAllocator(db),
      ranks: new SourceRanks(db),
      prompts: new RepeatedPrompts(db),
      names: new Names(db),
      isEstimating: hasEstimates(db),
    }
    const outcomes = batch.chats.map((chat) => writeChat(db, chat, batch, tools))
    for (const { source, write } of tools.prompts.writes)
      outcomes.push(writeChat(db, write, { ...batch, source }, tools))
    outcomes.push(...writeAnswers(db, batch, tools))
    writeBlobCalls(db, batch)
    writeRows(db, batch)
    writeWorkspaces(db, batch)
    const affected = new Set([...writeChatMetadata(db, batch), ...writeTracked(db, batch)])
    const renamed = [...affected].filter((chatId) => refreshChat(db, chatId, batch, tools))
    terms.write(db, batch)
    writePaths(db, batch)
    const moved = [...renamed, ...writeEvidence(db, batch)]
    if (batch.position !== null) writePosition(db, batch.source, batch.position)
    const changed = outcomes.filter((outcome) => outcome.isChanged)
    return {
      added: sum(outcomes.map((outcome) => outcome.added)),
      changed: sum(outcomes.map((outcome) => outcome.changed)) + new Set(moved).size,
      gone: sum(outcomes.map((outcome) => outcome.gone)),
      chatIds: [...new Set([...changed.map((outcome) => outcome.chatId), ...moved])],
      losses: outcomes.flatMap((outcome) => outcome.losses),
      messages: changed.flatMap((outcome) => outcome.messageIds.map((id) => ({ id, chatId: outcome.chatId }))),
    }
  })
  if (written.gone > 0 || batch.goneKeys.length > 0) sealCommits(db, batch.source)
  return written
}

/** Whether the chat comes into being by it. */
const hasContent = ({ ownRow, messages }: ChatWrite): boolean => messages.length > 0 || tellsFacts(ownRow)

const SOURCE_KIND = `select kind from sources where num = ?`
const isOfHub = (db: Mirror, source: number): boolean => prepared<string>(db, SOURCE_KIND).pluck().get(source) === HUB

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
