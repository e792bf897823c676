import { useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import { exportChat, FORMATS, linkOf } from '../lib/acts.ts'
import { messageOf } from '../lib/api.ts'
import { Menu } from '../lib/parts.tsx'
import { Copy } from './code.tsx'

/** Its link, and the chat as a file. */
export function ShareMenu({ chat: { id } }: { chat: ChatDetail }) {
  const [isRedacted, setRedacted] = useState(true)
  const [failure, setFailure] = useState<string | null>(null)
  const save = (format: (typeof FORMATS)[number]): void => {
    setFailure(null)
    exportChat(id, format, isRedacted).catch((error: unknown) => setFailure(messageOf(error)))
  }
  return (
    <Menu name="Share">
      {() => (
        <>
          <Copy text={linkOf(id)} name="Copy link" />
          <label>
            <input
              type="checkbox"
              checked={isRedacted}
              onChange={(event) => setRedacted(event.currentTarget.checked)}
            />{' '}
            Mask secrets
          </label>
          {FORMATS.map((format) => (
            <button key={format[0]} type="button" onClick={() => save(format)}>
              {format[1]}
            </button>
          ))}
          {failure !== null && <p role="alert">{failure}</p>}
        </>
      )}
    </Menu>
  )
}
