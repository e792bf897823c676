import { useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import { api, download, messageOf } from '../lib/api.ts'
import { Menu } from '../lib/parts.tsx'
import { Copy } from './code.tsx'

const FORMATS = [
  ['markdown', 'Markdown', 'md'],
  ['html', 'HTML', 'html'],
  ['json', 'JSON', 'json'],
] as const

/** Its link, and the chat as a file. A popover closes by itself when one presses elsewhere. */
export function ShareMenu({ chat }: { chat: ChatDetail }) {
  const [isRedacted, setRedacted] = useState(true)
  const [failure, setFailure] = useState<string | null>(null)
  const save = (format: (typeof FORMATS)[number][0], extension: string): void => {
    setFailure(null)
    const query = { as: format, redact: isRedacted }
    api
      .open('/api/chats/:id/export', { id: chat.id, query })
      .then((response) => download(response, `chat.${extension}`))
      .catch((error: unknown) => setFailure(messageOf(error)))
  }
  return (
    <Menu name="Share">
      {() => (
        <>
          <Copy text={`${location.origin}/chats/${encodeURIComponent(chat.id)}`} name="Copy link" />
          <label>
            <input
              type="checkbox"
              checked={isRedacted}
              onChange={(event) => setRedacted(event.currentTarget.checked)}
            />{' '}
            Mask secrets
          </label>
          {FORMATS.map(([format, name, extension]) => (
            <button key={format} type="button" onClick={() => save(format, extension)}>
              {name}
            </button>
          ))}
          {failure !== null && <p role="alert">{failure}</p>}
        </>
      )}
    </Menu>
  )
}
