import { type CursorHome, headers } from '../cursor.ts'
import { cliEras } from './cli-store.ts'
import { globalEras as allGlobalEras, headerTableOf39 } from './global-items.ts'
import { eraOutputs, rowEras, writeForks, writeNoise } from './global-rows.ts'
import { line, lines, query, said, transcriptEras, writeOutput, writeTranscript } from './transcripts.ts'
import { writeTrackingEra } from './tracking.ts'
import { eraPrompts, workspaceEras } from './workspace-items.ts'

/** A file has only one table of headers, so the newer form represents both. */
export const globalEras = allGlobalEras.filter((era) => era !== headerTableOf39)

/** Chats that are stored in a workspace. The global store has nothing of them. */
export const heldByWorkspaces = new Set(workspaceEras.flatMap((era) => era.chats.map(({ id }) => id)))
export const repeatedPrompt = eraPrompts.chats[0]?.messages[1]?.text ?? ''

export const eraWorktree = {
  id: 'era-worktree',
  rootUri: 'file:///home/ada/.cursor/worktrees/kiln',
  worktree: { name: 'x1y', path: '/home/ada/.cursor/worktrees/kiln/x1y' },
}

/** A transcript whose call reads a long output from a file. */
export const eraOutput = { id: 'era-output', text: 'The kiln log, 4000 lines' }

/** All eras of Cursor in one home. Every chat in the lists has a chat in the global store, with one message. */
export function writeAllEras(home: CursorHome, cursorHome: string): void {
  const store = home.global()
  for (const era of globalEras) era.write(store.db)
  const listed = [
    ...globalEras.flatMap(({ heads }) => heads.map(({ chatId }) => chatId)),
    ...globalEras.flatMap(({ evidence }) => evidence.map((one) => one.split(' ')[0] ?? '')),
    ...workspaceEras.flatMap(({ headIds, openIds }) => [...headIds, ...openIds]),
  ].filter((id) => !heldByWorkspaces.has(id))
  for (const id of new Set(listed)) {
    store.chat(id, { fullConversationHeadersOnly: headers(['m']) })
    store.message(id, 'm', { type: 1, text: `Said in the listed chat ${id}` })
  }
  store.chat('map-1', { conversationMap: { x: { bubbleId: 'x', type: 1, text: 'Kept in a map' } } })
  for (const era of [...rowEras, eraOutputs]) era.write(store)
  writeForks(store)
  writeNoise(store)
  // It also has a transcript, and a workspace still has a prompt of a lost chat.
  store.chat('era-both', { name: 'Both', fullConversationHeadersOnly: headers(['m1', 'm2', 'm3']) })
  store.message('era-both', 'm1', { type: 1, text: 'Told by both' })
  store.message('era-both', 'm2', { type: 2, text: 'Answered by both' })
  store.message('era-both', 'm3', { type: 1, text: repeatedPrompt })
  const both = [line('user', said(query('Told by both'))), line('assistant', said('Answered by both'))]
  writeTranscript(cursorHome, 'empty-window', 'era-both.jsonl', lines(...both))
  // Its folder is gone, and two projects have the name of its repository.
  store.chat(eraWorktree.id, {
    fullConversationHeadersOnly: headers(['m']),
    workspaceIdentifier: { id: 'w', uri: { scheme: 'file', path: '/home/ada/.cursor/worktrees/kiln/x1y' } },
  })
  store.message(eraWorktree.id, 'm', { type: 1, text: 'Try another glaze' })
  const path = writeOutput(cursorHome, 'empty-window', '0a1b.txt', eraOutput.text)
  const reads = line('assistant', { type: 'tool_use', name: 'Read', input: { path } })
  const reading = lines(line('user', said(query('Read the kiln log'))), reads)
  writeTranscript(cursorHome, 'empty-window', `${eraOutput.id}.jsonl`, reading)
  for (const era of workspaceEras) era.write(home.userDir)
  for (const era of transcriptEras) era.write(cursorHome)
  for (const era of cliEras) era.write(cursorHome)
  writeTrackingEra(cursorHome)
  // Each of these has a transcript, under a name that does not tell its folder.
  for (const { chatId, messages } of cliEras) {
    const told = messages.map(({ role, text }) => line(role, said(role === 'user' ? query(text ?? '') : (text ?? ''))))
    if (chatId !== null) writeTranscript(cursorHome, 'empty-window', `${chatId}.jsonl`, lines(...told))
  }
}
