import { useState } from 'preact/hooks'
import type { ListedLoss } from '../../api/answers/chats.ts'
import { getList } from '../lib/api.ts'
import { chatAddress, plural, projectAddress, titleOf, visible } from '../lib/format.ts'
import { useList, useLive, useTitle } from '../lib/hooks.ts'
import { Failure, Loading, Notice, When } from '../lib/parts.tsx'
import { type Column, CsvButton, DataTable, More } from './table.tsx'
import '../styles/report.css'

const FIRST = 100

/** What Cursor deleted; each line opens what is kept. */
export default function LossesScreen() {
  useTitle('Losses')
  const [limit, setLimit] = useState(FIRST)
  const losses = useList('/api/losses', limit)
  useLive(['loss'], losses.reload)
  const { data, error } = losses
  return (
    <main id="main" class="column">
      <h1>Losses</h1>
      <p class="lead">
        What Cursor deleted and cursordex kept. Each line opens the copy. A chat that was deleted whole is one line.
      </p>
      {data === null && error === null && <Loading what="losses" />}
      {error !== null && <Failure error={error} retry={losses.reload} />}
      {data !== null && data.items.length === 0 && (
        <Notice title="Nothing was lost">
          <p>Since cursordex began to watch, Cursor deleted no chat and no message.</p>
        </Notice>
      )}
      {data !== null && data.items.length > 0 && (
        <section>
          <div class="head">
            <h2 class="section-title">{plural(data.total, 'loss', 'losses')}, the latest first</h2>
            <CsvButton title="Losses" columns={[...columns, ...idColumns]} rows={allLosses} />
          </div>
          <DataTable caption="Losses" columns={columns} rows={data.items} />
          <More shown={data.items.length} total={data.total} show={setLimit} />
        </section>
      )}
    </main>
  )
}

const allLosses = async (): Promise<readonly ListedLoss[]> =>
  (await getList('/api/losses', Number.MAX_SAFE_INTEGER)).items

const columns: readonly Column<ListedLoss>[] = [
  {
    name: 'Chat',
    value: ({ title }) => title,
    show: ({ chatId, messageId, title }) => <a href={chatAddress(chatId, '', messageId)}>{titleOf(title)}</a>,
  },
  {
    name: 'Lost',
    value: ({ kind }) => kind,
    show: ({ kind }) => <span class="tag lost">{kind === 'chat' ? 'whole chat' : 'message'}</span>,
    className: 'nowrap',
  },
  {
    name: 'Project',
    value: ({ project }) => project?.name ?? null,
    show: ({ project }) => project !== null && <a href={projectAddress(project.id)}>{visible(project.name)}</a>,
    className: 'text',
  },
  { name: 'Noticed', value: ({ at }) => at, show: ({ at }) => <When at={at} />, className: 'nowrap' },
]

const idColumns: readonly Column<ListedLoss>[] = [
  { name: 'Chat id', value: ({ chatId }) => chatId },
  { name: 'Message id', value: ({ messageId }) => messageId },
]
