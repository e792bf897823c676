import type { AttachmentPart } from '../../../../model/part.ts'
import {
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  isBlank,
  listIn,
  recordIn,
  wellFormed,
  type JsonRecord,
} from '../json/json-value.ts'
import { readItemPath } from '../common-fields.ts'

/** The attachments of a message, from the row itself and from its `context`, without duplicates. */
export function decodeAttachments(record: JsonRecord): readonly AttachmentPart[] {
  const found = new Map<string, AttachmentPart>()
  for (const scope of [record, recordIn(record, 'context')]) {
    for (const [field, decode] of attachmentFields) {
      for (const item of listIn(scope, field)) {
        const part = decode(item)
        if (part !== null) found.set(`${part.path}\0${part.text ?? ''}`, part)
      }
    }
  }
  return [...found.values()]
}

type AttachmentDecoder = (item: unknown) => AttachmentPart | null

const attachmentFields: readonly (readonly [string, AttachmentDecoder])[] = [
  ['fileSelections', decodeFile],
  ['folderSelections', decodeFile],
  ['selections', decodeSelection],
  ['attachedCodeChunks', decodeChunk],
  ['terminalSelections', decodeTerminal],
  ['externalLinks', decodeLink],
  ['images', decodeImage],
  ['selectedImages', decodeImage],
]

const attachment = (path: string, text: string | null): AttachmentPart => ({ kind: 'attachment', path, text })

/** Builds that name the file by something else than a URI also store its content. */
function decodeFile(item: unknown): AttachmentPart | null {
  const record = asRecord(item)
  const path = readItemPath(item) ?? firstFilledIn(record, ['relativePath', 'fileName'])
  return path === null ? null : attachment(path, filledStringIn(record, 'content'))
}

function decodeSelection(item: unknown): AttachmentPart | null {
  const path = readItemPath(asRecord(item))
  const text = firstFilledIn(asRecord(item), ['text', 'rawText'])
  return path === null && text === null ? null : attachment(path ?? 'selection', text)
}

function decodeChunk(item: unknown): AttachmentPart | null {
  const record = asRecord(item)
  const path = filledStringIn(record, 'relativeWorkspacePath') ?? readItemPath(record)
  const text = chunkLines(record) ?? firstFilledIn(record, ['contents', 'content'])
  return path === null && text === null ? null : attachment(path ?? 'selection', text)
}

function chunkLines(record: JsonRecord | null): string | null {
  const lines = listIn(record, 'lines').map((line) => (typeof line === 'string' ? line : asRecord(line)?.['text']))
  const text = lines.filter((line) => typeof line === 'string').join('\n')
  return isBlank(text) ? null : wellFormed(text)
}

function decodeTerminal(item: unknown): AttachmentPart | null {
  const text = filledString(item) ?? firstFilledIn(asRecord(item), ['text', 'rawText'])
  return text === null ? null : attachment('terminal', text)
}

function decodeLink(item: unknown): AttachmentPart | null {
  const url = filledStringIn(asRecord(item), 'url') ?? readItemPath(item)
  return url === null ? null : attachment(url, null)
}

const imagePathLengthMax = 1024

/** An image is a path, a URI, or the bytes themselves in some encoding. Only what cannot be bytes is used. */
function decodeImage(item: unknown): AttachmentPart | null {
  if (asRecord(item) === null && typeof item !== 'string') return null
  const path = readItemPath(item)
  const isPath = path !== null && path.length <= imagePathLengthMax && /[.:\\]/.test(path) && !/^\s*data:/i.test(path)
  return attachment(isPath ? path : 'image', null)
}
