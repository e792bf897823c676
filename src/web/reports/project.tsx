import { useLocation, useRoute } from 'preact-iso'
import type { Chat } from '../../api/http/schemas/chats.ts'
import type { Page } from '../../api/http/schemas/common.ts'
import type { Project } from '../../api/http/schemas/projects.ts'
import { ApiError, queryOf } from '../lib/api.ts'
import { chatAddress, cut, plural, visible } from '../lib/format.ts'
import { useData, useTitle } from '../lib/hooks.ts'
import { Failure, Loading, Notice, When } from '../lib/parts.tsx'
import { StatsReport } from './stats-report.tsx'

export default function ProjectScreen() {
  const { url } = useLocation()
  const id = useRoute().params['id'] ?? ''
  const base = `/api/projects/${encodeURIComponent(id)}`
  const project = useData<Project>(base)
  const chats = useData<Page<Chat>>(`/api/chats${queryOf({ project: id, limit: 10 })}`)
  useTitle(project.data?.name ?? 'Project')
  if (project.data === null) {
    const isUnknown = project.error instanceof ApiError && project.error.status === 404
    return (
      <main id="main" class="column">
        {isUnknown && <Notice title="No such project" />}
        {!isUnknown &&
          (project.error === null ? (
            <Loading what="the project" />
          ) : (
            <Failure error={project.error} retry={project.reload} />
          ))}
      </main>
    )
  }
  const { name, path, remote, chatCount, messageCount, lastActivityAt } = project.data
  return (
    <main id="main" class="column">
      <h1>{visible(name)}</h1>
      <p class="lead break">
        <code>{visible(path)}</code>
        {remote !== null && ` on ${remote.kind} ${remote.host}`}. {plural(chatCount, 'chat')},{' '}
        {plural(messageCount, 'message')}, last active <When at={lastActivityAt} />.{' '}
        <a href={`/${queryOf({ project: id })}`}>Search in this project</a>
      </p>
      <section>
        <h2 class="section-title">Newest chats</h2>
        <ul class="lines">
          {chats.data?.items.map((chat) => (
            <li key={chat.id}>
              <a href={chatAddress(chat.id)}>{visible(cut(chat.title, 140))}</a>
              <span class="soft nowrap">
                <When at={chat.lastActivityAt} />
              </span>
            </li>
          ))}
        </ul>
      </section>
      <StatsReport base={`${base}/stats`} url={url} />
    </main>
  )
}
