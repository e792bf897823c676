import { useState } from 'preact/hooks'
import type { Project } from '../../api/answers/projects.ts'
import { plural, projectAddress } from '../lib/format.ts'
import { useList, useTitle } from '../lib/hooks.ts'
import { More, Shown } from '../lib/parts.tsx'
import { queryOf } from '../lib/api.ts'
import { type Column, DataTable, timeColumn } from './table.tsx'
import '../styles/report.css'

const FIRST = 100

const columns: readonly Column<Project>[] = [
  { name: 'Project', value: ({ name }) => name, link: ({ id }) => projectAddress(id) },
  {
    name: 'Folder',
    value: ({ path, remote }) => (remote === null ? path : `${remote.host}: ${path}`),
    className: 'text',
  },
  { name: 'Chats', value: ({ chatCount }) => chatCount, link: ({ id }) => `/${queryOf({ project: id })}` },
  { name: 'Messages', value: ({ messageCount }) => messageCount },
  timeColumn('Last active', ({ lastActivityAt }) => lastActivityAt),
]

/** All projects; a name leads to its page, a number of chats to these chats. */
export default function ProjectsScreen() {
  useTitle('Projects')
  const [limit, setLimit] = useState(FIRST)
  return (
    <main id="main" class="column">
      <h1>Projects</h1>
      <Shown of={useList('/api/projects', limit)} what="projects">
        {({ items, total }) => (
          <>
            <p class="lead">{plural(total, 'project')}, the last active first.</p>
            <DataTable caption="Projects" columns={columns} rows={items} />
            <More shown={items.length} total={total} show={setLimit} />
          </>
        )}
      </Shown>
    </main>
  )
}
