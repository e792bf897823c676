import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Project } from '../../api/answers/projects.ts'
import { ApiError, messageOf, queryOf } from '../lib/api.ts'
import { chatAddress, cut, plural, projectAddress, titleOf, visible } from '../lib/format.ts'
import { useData, useList, useTitle } from '../lib/hooks.ts'
import { Loading, More, Notice, Shown, When } from '../lib/parts.tsx'
import { StatsReport } from './stats.tsx'
import { type Column, DataTable, timeColumn } from './table.tsx'
import '../styles/report.css'

/** All projects, or one: its statistics and commits. */
export default function ProjectsScreen() {
  const id = useRoute().params['id']
  return id === undefined ? <AllProjects /> : <OneProject id={id} />
}

const FIRST = 100
const COMMITS = 10

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
function AllProjects() {
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

function OneProject({ id }: { id: string }) {
  const project = useData('/api/projects/:id', { id })
  useTitle(project.data?.name ?? 'Project')
  if (project.data === null) {
    const isUnknown = project.error instanceof ApiError && project.error.status === 404
    return (
      <main id="main" class="column">
        {isUnknown ? (
          <Notice title="No such project" />
        ) : (
          <Shown of={project} what="the project">
            {() => null}
          </Shown>
        )}
      </main>
    )
  }
  const { name, path, remote, chatCount, messageCount, lastActivityAt } = project.data
  return (
    <main id="main" class="column">
      <h1>{visible(name)}</h1>
      <p class="lead">
        <code>{visible(path)}</code>
        {remote !== null && ` on ${remote.kind} ${remote.host}`}. {plural(chatCount, 'chat')},{' '}
        {plural(messageCount, 'message')}, last active <When at={lastActivityAt} />.{' '}
        <a href={`/${queryOf({ project: id })}`}>Its chats</a>
      </p>
      <Commits projectId={id} />
      <h2>Statistics</h2>
      <StatsReport project={id} />
    </main>
  )
}

/** Asked for when they are looked at: many projects have no repository here, and reading one takes a while. */
function Commits({ projectId }: { projectId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <section>
      <details class="section" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>Commits, and the chats that may have led to them</b>
        </summary>
        {isOpen && <CommitList projectId={projectId} />}
      </details>
    </section>
  )
}

function CommitList({ projectId }: { projectId: string }) {
  const [limit, setLimit] = useState(COMMITS)
  const { data, error } = useList('/api/commits', limit, { query: { repo: projectId } })
  return (
    <>
      {data === null && error === null && <Loading what="commits" />}
      {error !== null && <p class="soft">{messageOf(error)}</p>}
      {data?.total === 0 && <p class="soft">The repository has no commit yet.</p>}
      <ul class="lines">
        {data?.items.map(({ sha, subject, committedAt, chats }) => (
          <li key={sha}>
            <span>
              <code>{sha.slice(0, 7)}</code> {visible(cut(subject, 140))}
              {chats.slice(0, 3).map((chat) => (
                <a key={chat.id} class="commit-chat" href={chatAddress(chat.id)}>
                  {titleOf(chat.title)} <span class="soft">({chat.confidence} confidence)</span>
                </a>
              ))}
            </span>
            <span class="soft nowrap">
              <When at={committedAt} />
            </span>
          </li>
        ))}
      </ul>
      {data !== null && <More shown={data.items.length} total={data.total} show={setLimit} />}
    </>
  )
}
