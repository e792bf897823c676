import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CursorHome, type Store } from '../src/sample/cursor-home.ts'
import { keptFolder } from './kept-store.ts'
import { createRandom, createWriter } from './words.ts'

export const LONG_CHAT = 'bench-long-thread'
export const LONG_MESSAGES = 5000
/** Newer than every chat of the other store. */
const STARTED_AT_MS = Date.UTC(2025, 9, 8)
const STEP_MS = 5000

type Writer = ReturnType<typeof createWriter>

/** A second `User` folder of Cursor with one chat of 5,000 messages. It stays between runs, like the stores. */
export function keepLongThread(): string {
  const hash = createHash('sha256')
  for (const name of ['long-thread.js', 'words.js']) {
    hash.update(readFileSync(fileURLToPath(new URL(name, import.meta.url))))
  }
  const folder = join(keptFolder, `long-thread-${hash.digest('hex').slice(0, 12)}`)
  const home = new CursorHome(folder)
  const whole = join(folder, 'whole')
  if (existsSync(whole)) return home.userDir
  rmSync(folder, { recursive: true, force: true })
  const store = home.global()
  // The same seed as the other store: its words are the same ones.
  const write = createWriter(createRandom(1))
  store.db.transaction(() => writeThread(store, write))()
  home.close()
  writeFileSync(whole, '')
  return home.userDir
}

export const longMessage = (index: number): string => `long-${index}`

function writeThread(store: Store, write: Writer): void {
  const ids = Array.from({ length: LONG_MESSAGES }, (_, index) => longMessage(index))
  for (const [index, id] of ids.entries()) {
    const createdAt = new Date(STARTED_AT_MS + index * STEP_MS).toISOString()
    store.message(LONG_CHAT, id, { createdAt, ...contentOf(write, index) })
  }
  store.chat(LONG_CHAT, {
    name: 'A chat of 5,000 messages',
    createdAt: STARTED_AT_MS,
    fullConversationHeadersOnly: ids.map((bubbleId, index) => ({ bubbleId, type: isPrompt(index) ? 1 : 2 })),
  })
}

const isPrompt = (index: number): boolean => index % 5 === 0

/** A prompt, an answer in Markdown, or a call of a tool, as long as in the other store. */
function contentOf(write: Writer, index: number): Record<string, unknown> {
  if (isPrompt(index)) return { type: 1, text: write.text(400) }
  if (index % 2 === 0) return { type: 2, text: answer(write) }
  const toolFormerData = {
    tool: 15,
    name: 'run_terminal_cmd',
    toolCallId: `call-${index}`,
    status: 'completed',
    params: JSON.stringify({ command: write.text(80) }),
    result: JSON.stringify({ output: write.text(3000) }),
  }
  return { type: 2, text: '', toolFormerData }
}

function answer(write: Writer): string {
  const list = Array.from({ length: 4 }, () => `- **${write.text(10)}**: ${write.text(90)}`).join('\n')
  const code = Array.from({ length: 12 }, () => `const ${write.text(5).replaceAll(' ', '_')} = '${write.text(30)}'`)
  return `## ${write.text(30)}\n\n${write.text(700)}\n\n${list}\n\n\`\`\`ts\n${code.join('\n')}\n\`\`\`\n\n${write.text(400)}`
}
