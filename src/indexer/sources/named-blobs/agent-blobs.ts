import { listReferringChats, listPendingOutputs, type ReferringChat } from '../../../mirror/write/pending-references.ts'
import type { PassStep, Source } from '../../source.ts'
import { goneChat } from '../../open-safely/write-whole.ts'
import { decodeConversationState } from '../records/state/conversation-state.ts'
import { blobSource, foundStep, type BlobPass } from './blob-pass.ts'
import { joinOutputs } from './join-outputs.ts'
import { readState } from './read-state.ts'
import { recoverThread } from './recover-thread.ts'
import { readOwnRow } from '../../../mirror/threads/outlines.ts'
import type { ChatId } from '../../../model/ids.ts'

/** The model's copy of a thread has no ids and no times: every other source of the chat is more complete. */
const RANK = 4
const DECODER = 2

/**
 * What was sent to the model, for chats whose messages leave something out: the outputs of calls, and the whole thread
 * of a chat that has no messages any more. A blob does not name its chat, so only blobs named by the state of an asking
 * chat are read.
 * @param userDir Cursor's `User` folder
 */
export const agentBlobsSource = (userDir: string): Source =>
  blobSource(userDir, { kind: 'agent-blobs', decoder: DECODER, rank: RANK, look: lookIntoChats })

function* lookIntoChats(pass: BlobPass): Generator<PassStep, void> {
  for (const chat of listReferringChats(pass.mirror, pass.asker, pass.after)) yield* lookIntoChat(pass, chat)
}

function* lookIntoChat(pass: BlobPass, chat: ReferringChat): Generator<PassStep, void> {
  const { id, hasMessages } = chat
  if (readOwnRow(pass.mirror, id, pass.asker) === 'gone') {
    yield* markGone(pass, id)
    return
  }
  const asks = hasMessages ? listPendingOutputs(pass.mirror, pass.asker, id) : []
  if (hasMessages && asks.length === 0) return
  const state = yield* readState(pass, id)
  if (state === null) return
  if (!hasMessages) {
    yield* recoverThread(pass, chat, state)
    return
  }
  const decoded = decodeConversationState(state.root)
  if (decoded !== null) yield* joinOutputs(pass, decoded, asks)
}

/**
 * The copy belongs to the chat only as long as the chat exists. Its blobs stay until Cursor collects them, but nobody
 * can see them.
 */
function* markGone(pass: BlobPass, id: ChatId): Generator<PassStep, void> {
  if (readOwnRow(pass.mirror, id, pass.num) !== 'live') return
  yield foundStep(pass, { bytesRead: 0, elapsedMs: 0 }, { chats: [goneChat(id)] })
}
