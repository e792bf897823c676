import { createHash } from 'node:crypto'
import type { Chat } from '../../model/chat.ts'

const TITLE_LENGTH_MAX = 40

/** `Fix-the-login-1a2b3c4d.md`: of a title, which may hold anything, only what is safe in a header and on a disk. */
export function fileNameOf({ id, title }: Pick<Chat, 'id' | 'title'>, extension: string): string {
  const safe = title.replace(/[^A-Za-z0-9_-]+/gu, '-').replace(/^-+/u, '')
  const words = safe.slice(0, TITLE_LENGTH_MAX).replace(/-+$/u, '')
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return `${words === '' ? 'chat' : words}-${hash}.${extension}`
}
