import { asChatId } from '../../../model/ids.ts'
import { exportChat } from '../../export/export-chat.ts'
import { exportFormats } from '../../export/formats.ts'
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
      // The rules are loaded only when they are needed.
      const masking = query.redact === true ? new (await import('../../export/redact/masking.ts')).Masking() : null
      const file = exportChat(api.mirror(), asChatId(id), {
        as: query.as ?? 'markdown',
        includeOrphans: query.includeOrphans ?? false,
        stamp: { version: api.version, exportedAt: toIso(api.now()) },
        masking,
      })
      if (file === null) throw notFound('chat', id)
      c.header('content-type', file.contentType)
      if (file.contentSecurityPolicy !== undefined) c.header('content-security-policy', file.contentSecurityPolicy)
      c.header('content-disposition', `attachment; filename="${file.name}"`)
      // The answer to a HEAD has no body: nobody would read the text.
      if (c.req.raw.method === 'HEAD') return c.body(null)
      return c.body(textStream(file.text, (error) => api.reportFault?.(error)))
    },
  }),
]
