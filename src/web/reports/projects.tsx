import { useState } from 'preact/hooks'
import type { Project } from '../../api/answers/projects.ts'
import { plural, projectAddress, visible } from '../lib/format.ts'
import { useList, useTitle } from '../lib/hooks.ts'
import { Failure, Loading, When } from '../lib/parts.tsx'
import { queryOf } from '../lib/api.ts'
import { type Column, DataTable, More } from './table.tsx'
import '../styles/report.css'

const FIRST = 100

const columns: readonly Column<Project>[] = [
  {
    name: 'Project',
    value: ({ name }) => name,
    show: ({ id, name }) => <a href={projectAddress(id)}>{visible(name)}</a>,
  },
  {
    name: 'Folder',
    value: ({ path }) => path,
    show: ({ path, remote }) => (
      <code>
        {remote !== null && `${visible(remote.host)}: `}
        {visible(path)}
      </code>
    ),
    className: 'text',
  },
  {
    name: 'Chats',
    value: ({ chatCount }) => chatCount,
    show: ({ id, chatCount }) => <a href={`/${queryOf({ project: id })}`}>{chatCount}</a>,
  },
  { name: 'Messages', value: ({ messageCount }) => messageCount },
  {
    name: 'Last active',
    value: ({ lastActivityAt }) => lastActivityAt,
    show: ({ lastActivityAt }) => <When at={lastActivityAt} />,
    className: 'nowrap',
  },
]

/** All projects; a name leads to its page, a number of chats to these chats. */
export default function ProjectsScreen() {
  useTitle('Projects')
  const [limit, setLimit] = useState(FIRST)
  const { data, error, reload } = useList('/api/projects', limit)
  return (
    <main id="main" class="column">
      <h1>Projects</h1>
      {data === null && error === null && <Loading what="projects" />}
      {error !== null && <Failure error={error} retry={reload} />}
      {data !== null && (
        <>
          <p class="lead">{plural(data.total, 'project')}, the last active first.</p>
          <DataTable caption="Projects" columns={columns} rows={data.items} />
          <More shown={data.items.length} total={data.total} show={setLimit} />
        </>
      )}
    </main>
  )
}
