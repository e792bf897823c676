import { Hono } from 'hono'
import { asChatId } from '../../../model/ids.ts'
import { exporters, exportFormats, fileNameOf } from '../../export/formats.ts'
import { findChat, readThread } from '../../export/read-thread.ts'
import { toIso } from '../../iso.ts'
import { flag, oneOf, parametersOf, readQuery } from '../params.ts'
import { notFound } from '../problem.ts'
import { textStream } from '../text-stream.ts'
import type { ApiContext } from '../../context.ts'

const parameters = parametersOf({ as: oneOf(exportFormats), includeOrphans: flag(), redact: flag() })

export function exportRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/chats/:id/export', async (c) => {
    const query = readQuery(c, parameters)
    const db = context.mirror()
    const id = asChatId(c.req.param('id'))
    const chat = findChat(db, id)
    if (chat === null) throw notFound('chat', id)
    const { contentType, extension, contentSecurityPolicy, write } = exporters[query.as ?? 'markdown']
    c.header('content-type', contentType)
    if (contentSecurityPolicy !== undefined) c.header('content-security-policy', contentSecurityPolicy)
    const messages = readThread(db, chat.id, query.includeOrphans ?? false)
    const stamp = { version: context.version, exportedAt: toIso(context.now()) }
    const file =
      query.redact === true
        ? // The rules are loaded only when they are needed.
          (await import('../../export/redact/redacted.ts')).redacted(write, chat, messages, stamp)
        : { chat, text: write(chat, messages, stamp) }
    c.header('content-disposition', `attachment; filename="${fileNameOf(file.chat, extension)}"`)
    // The answer to a HEAD has no body: nobody would read the text.
    if (c.req.raw.method === 'HEAD') return c.body(null)
    return c.body(textStream(file.text, (error) => context.reportFault?.(error)))
  })
}
