import type { Page } from 'playwright-core'
import { headers, type Store } from '../helpers/cursor.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { startChats, usePlace } from './place.ts'

const MESSAGES = 5000

/** A daemon with chats of 5,000 messages: `chat-0`, and `varied` with rows of all heights. */
export const useLargeChats = () =>
  usePlace(() =>
    startChats((home) => {
      const store = home.global()
      fillStore(store, { chats: 1, messagesPerChat: MESSAGES, textLength: 400 })
      store.db.transaction(() => {
        writeMessages(store, 'varied', MESSAGES, variedMessage)
        writeMessages(store, 'hits', 500, (index) => ({ type: 2, text: `pear ${index}` }))
        writeMessages(store, 'edit', 1, () => editCall(3000))
      })()
    }),
  )

type Fields = Record<string, unknown>

/** Messages `<chat>-<index>` of a chat. */
export function writeMessages(store: Store, chatId: string, count: number, messageOf: (index: number) => Fields): void {
  const ids = Array.from({ length: count }, (_, index) => `${chatId}-${index}`)
  for (const [index, id] of ids.entries()) {
    store.message(chatId, id, { createdAt: new Date(FIRST_AT_MS + index * 1000).toISOString(), ...messageOf(index) })
  }
  store.chat(chatId, { name: `Chat ${chatId}`, createdAt: FIRST_AT_MS, fullConversationHeadersOnly: headers(ids) })
}

const FIRST_AT_MS = Date.UTC(2026, 1, 1)

const toolCall = (name: string, params: unknown, result: unknown): Fields => ({
  type: 2,
  text: '',
  capabilityType: 15,
  toolFormerData: { name, status: 'completed', params: JSON.stringify(params), result: JSON.stringify(result) },
})

/** Rows of all heights. Runs of calls lie across the places where the page cuts the chat, every 200 messages. */
function variedMessage(index: number): Fields {
  const step = (index + 3) % 10
  if (step === 0) return { type: 1, text: `Prompt ${index}. ${'Please do this. '.repeat((index * 7) % 60)}` }
  if (step < 6) return toolCall('run_terminal_cmd', { command: `npm test ${index}` }, { output: 'ok' })
  const list = '- item `x`\n'.repeat(index % 13)
  const code = index % 3 === 0 ? `\n\`\`\`ts\n${'const a: number = 1\n'.repeat((index * 3) % 20)}\`\`\`\n` : ''
  return { type: 2, text: `# Answer ${index}\n\nSome **words**.\n\n${list}${code}` }
}

function editCall(lines: number): Fields {
  const all = (word: string): string => Array.from({ length: lines }, (_, index) => `${word} ${index}`).join('\n')
  return toolCall('search_replace', { old_string: all('old'), new_string: all('new') }, {})
}

/** How far from the top of the window a message is shown. */
export const topOf = (page: Page, message: string): Promise<number> =>
  page.evaluate<number>(`document.querySelector('[data-message="${message}"]').getBoundingClientRect().top`)

/** Waits until nothing has moved for a while. */
export async function rests(page: Page): Promise<void> {
  let last = Number.NaN
  await waitUntil('a page that rests', async () => {
    const now = await page.evaluate<number>('scrollY')
    const isSame = now === last
    last = now
    await page.waitForTimeout(300)
    return isSame
  })
}
