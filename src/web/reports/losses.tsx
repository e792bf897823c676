import { useState } from 'preact/hooks'
import type { ListedLoss } from '../../api/http/schemas/chats.ts'
import type { Page } from '../../api/http/schemas/common.ts'
import { chatAddress, count, cut, plural, projectAddress, visible } from '../lib/format.ts'
import { useData, useLive, useTitle } from '../lib/hooks.ts'
import { Failure, Loading, Notice, When } from '../lib/parts.tsx'
import '../styles/report.css'

const PAGE = 100

/** What Cursor deleted; each line opens what is kept. */
export default function LossesScreen() {
  useTitle('Losses')
  const [limit, setLimit] = useState(PAGE)
  const losses = useData<Page<ListedLoss>>(`/api/losses?limit=${limit}`)
  useLive(['loss'], losses.reload)
  const { data, error } = losses
  return (
    <main id="main" class="column">
      <h1>Losses</h1>
      <p class="lead">What Cursor deleted and cursordex kept. Each line opens the copy.</p>
      {data === null && error === null && <Loading what="losses" />}
      {error !== null && <Failure error={error} retry={losses.reload} />}
      {data !== null && data.items.length === 0 && (
        <Notice title="Nothing was lost">
          <p>Since cursordex began to watch, Cursor deleted no chat and no message.</p>
        </Notice>
      )}
      {data !== null && data.items.length > 0 && <LossTable items={data.items} total={data.total} />}
      {data !== null && data.total > data.items.length && limit < 200 && (
        <button type="button" class="more" onClick={() => setLimit(200)}>
          Show more
        </button>
      )}
    </main>
  )
}

const LossTable = ({ items, total }: { items: readonly ListedLoss[]; total: number }) => (
  <div class="table-box" tabIndex={0} role="region" aria-label="Losses">
    <table>
      <caption>
        {plural(total, 'loss', 'losses')}
        {total > items.length && `, the latest ${count(items.length)}`}
      </caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Chat</th>
          <th scope="col">Project</th>
          <th scope="col">Noticed</th>
        </tr>
      </thead>
      <tbody>
        {items.map((loss) => (
          <tr key={`${loss.chatId} ${loss.messageId}`}>
            <td>
              <span class="tag lost">{loss.kind === 'chat' ? 'whole chat' : 'message'}</span>
            </td>
            <td>
              <a href={chatAddress(loss.chatId, '', loss.messageId)}>{visible(cut(loss.title, 160))}</a>
            </td>
            <td>
              {loss.project === null ? (
                <span class="soft">unknown</span>
              ) : (
                <a href={projectAddress(loss.project.id)}>{loss.project.name}</a>
              )}
            </td>
            <td class="nowrap">
              <When at={loss.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
