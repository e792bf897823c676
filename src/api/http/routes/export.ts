import { asChatId } from '../../../model/ids.ts'
import { exporters, exportFormats, fileNameOf } from '../../export/formats.ts'
import { findChat, readThread } from '../../export/read-thread.ts'
import { toIso } from '../../iso.ts'
import { flag, oneOf, parametersOf } from '../params.ts'
import { notFound } from '../problem.ts'
import { route } from '../route.ts'
import { textStream } from '../text-stream.ts'

export const exportRoutes = [
  route({
    method: 'GET',
    path: '/api/chats/:id/export',
    says: 'A chat as a file: as=markdown|json|jsonl|html, includeOrphans, redact=true to mask secrets.',
    query: parametersOf({ as: oneOf(exportFormats), includeOrphans: flag(), redact: flag() }),
    answer: ['text/markdown', 'application/json', 'application/jsonl', 'text/html'],
    problems: [404],
    handle: async ({ id, query, c }, api) => {
      const db = api.mirror()
      const chat = findChat(db, asChatId(id))
      if (chat === null) throw notFound('chat', id)
      const { contentType, extension, contentSecurityPolicy, write } = exporters[query.as ?? 'markdown']
      c.header('content-type', contentType)
      if (contentSecurityPolicy !== undefined) c.header('content-security-policy', contentSecurityPolicy)
      const messages = readThread(db, chat.id, query.includeOrphans ?? false)
      const stamp = { version: api.version, exportedAt: toIso(api.now()) }
      const file =
        query.redact === true
          ? // The rules are loaded only when they are needed.
            (await import('../../export/redact/redacted.ts')).redacted(write, chat, messages, stamp)
          : { chat, text: write(chat, messages, stamp) }
      c.header('content-disposition', `attachment; filename="${fileNameOf(file.chat, extension)}"`)
      // The answer to a HEAD has no body: nobody would read the text.
      if (c.req.raw.method === 'HEAD') return c.body(null)
      return c.body(textStream(file.text, (error) => api.reportFault?.(error)))
    },
  }),
]
