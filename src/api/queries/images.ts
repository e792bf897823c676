import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import type { ChatId } from '../../model/ids.ts'
import type { Message } from '../answers/messages.ts'
import type { Part } from '../../model/part.ts'
import { readRegular } from '../../regular-file.ts'
import { addressOf } from '../../shared/client.ts'

/** The kinds that are shown, and how their files begin, a character for each byte. An SVG may contain a program. */
const KINDS = [
  { mime: 'image/png', ending: /\.png$/i, beginning: /^\x89PNG\r\n/ },
  { mime: 'image/jpeg', ending: /\.jpe?g$/i, beginning: /^\xff\xd8\xff/ },
  { mime: 'image/gif', ending: /\.gif$/i, beginning: /^GIF8[79]a/ },
  { mime: 'image/webp', ending: /\.webp$/i, beginning: /^RIFF.{4}WEBP/s },
]
export const imageTypes = KINDS.map(({ mime }) => mime)
const BYTES_MAX = 20 * 1024 * 1024

/** Which kind of image a path names, if it may be looked at: asking for a share could send a password to its server. */
const kindOf = (path: string) =>
  isAbsolute(path) && !/^[\\/]{2}/.test(path) ? KINDS.find(({ ending }) => ending.test(path)) : undefined

const IS_HERE = `select machine is null from chats where num = ?`

/** Says of each attached image what is known of its file now. The files of another machine are not here. */
export function withImages(db: Mirror, chat: number, messages: readonly Message[]): readonly Message[] {
  if (prepared<number>(db, IS_HERE).pluck().get(chat) !== 1) return messages
  return messages.map((message) => ({ ...message, parts: message.parts.map((part) => withImage(part, message)) }))
}

function withImage(part: Part, { id, chatId }: Message): Part {
  const kind = part.kind === 'attachment' && part.text === null ? kindOf(part.path) : undefined
  if (part.kind !== 'attachment' || kind === undefined) return part
  const bytes = sizeOf(part.path)
  const href = addressOf('/api/chats/:id/image', { id: chatId, query: { message: id, path: part.path } })
  return { ...part, mime: kind.mime, bytes, exists: bytes !== null, ...(bytes === null ? {} : { href }) }
}

function sizeOf(path: string): number | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat?.isFile() === true && stat.size <= BYTES_MAX ? stat.size : null
  } catch {
    return null
  }
}

const IS_ATTACHED = `
select 1 from messages m join chats c on c.num = m.chat join bodies b on b.num = m.body join json_each(b.parts) part
where c.id = @chat and m.id = @message and c.machine is null
  and part.value ->> 'kind' = 'attachment' and part.value ->> 'path' = @path
`

/** The image that a message of this machine has attached. Null for any other path, and for a file that is no image. */
export function readImage(
  db: Mirror,
  given: { readonly chat: ChatId; readonly message: string; readonly path: string },
) {
  if (kindOf(given.path) === undefined || prepared(db, IS_ATTACHED).get(given) === undefined) return null
  try {
    const bytes = readRegular(given.path, BYTES_MAX)
    const kind = KINDS.find(({ beginning }) => beginning.test(bytes.subarray(0, 16).toString('latin1')))
    return kind === undefined ? null : { mime: kind.mime, bytes: new Uint8Array(bytes) }
  } catch {
    return null
  }
}
