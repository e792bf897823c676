import { api } from './api.ts'
import { plural } from './format.ts'
import { theme, THEMES } from './preferences.ts'

// What can be done from several places of the page.

/** Copies a text, also where the page has no clipboard API: over plain HTTP to another machine. @returns whether it worked */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'hidden'
    const focused = document.activeElement
    // In an open menu or dialog nothing outside of it can be selected.
    ;(focused?.closest('[popover], dialog') ?? document.body).append(field)
    field.select()
    const isCopied = document.execCommand('copy')
    field.remove()
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
    return isCopied
  }
}

export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Saves an answer as a file: a plain link could not send the token. */
async function download(response: Response, fallbackName: string): Promise<void> {
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? fallbackName
  saveBlob(await response.blob(), name)
}

export const FORMATS = [
  ['markdown', 'Markdown', 'md'],
  ['html', 'HTML', 'html'],
  ['json', 'JSON', 'json'],
] as const

export const linkOf = (chatId: string): string => `${location.origin}/chats/${encodeURIComponent(chatId)}`

/** Saves a chat as a file. @param redact whether secrets are masked */
export async function exportChat(
  id: string,
  [as, , extension]: (typeof FORMATS)[number],
  redact: boolean,
): Promise<void> {
  await download(await api.open('/api/chats/:id/export', { id, query: { as, redact } }), `chat.${extension}`)
}

/** Reads every byte of the archives. @returns what came of it, as a sentence */
export async function verifyArchives(): Promise<string> {
  const { ok, checked, damaged } = await api.post('/api/archives/:name/verify', { id: 'newest' })
  if (ok) return `Proven: ${plural(checked, 'file')} read back and equal.`
  return `Damaged: ${plural(damaged.length, 'chat')} cannot be read. Run cursordex archive verify for the list.`
}

/** What can be done from the search field, by its name. Each says what came of it. @param chatId the chat that is open */
export function actsOn(chatId: string | null): Readonly<Record<string, () => Promise<string>>> {
  const acts: Record<string, () => Promise<string>> = { 'Verify the newest archive': verifyArchives }
  for (const each of THEMES) acts[`Theme: ${each}`] = async () => `The theme is ${(theme.value = each)}.`
  if (chatId === null) return acts
  acts['Copy the link to this chat'] = async () =>
    (await copyText(linkOf(chatId))) ? 'The link is copied.' : 'The browser refused to copy.'
  for (const format of FORMATS) {
    acts[`Export this chat as ${format[1]}, secrets masked`] = async () => {
      await exportChat(chatId, format, true)
      return `The chat is saved as ${format[1]}.`
    }
  }
  return acts
}
