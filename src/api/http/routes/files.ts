import { fileHistoryAnswer, filesAnswer } from '../../answers/files.ts'
import { readNamedProjects, resolveProjects } from '../../queries/projects/list-projects.ts'
import { page, parametersOf, text, word, words } from '../params.ts'
import { badParameters } from '../problem.ts'
import { route, type Api } from '../route.ts'
import { commitsOfEdits } from './commits.ts'

export const fileRoutes = [
  route({
    method: 'GET',
    path: '/api/files',
    says: 'Files that chats edited or read, the last edited first: q is a part of the path.',
    query: parametersOf({ q: text(), project: words(), ...page }),
    answer: filesAnswer,
    handle: ({ query: { project, ...query } }, api) =>
      api.ask({ kind: 'files', request: { ...query, projectNums: numsOf(api, project) } }),
  }),
  route({
    method: 'GET',
    path: '/api/files/history',
    says: 'The edits of one file, the newest first, each with its chat, its lines and its commits: project, path.',
    query: parametersOf({ project: word(), path: word(), ...page }),
    answer: fileHistoryAnswer,
    handle: async ({ query: { project, path, ...query } }, api) => {
      if (path === null) throw badParameters([{ name: 'path', reason: 'must be the path of a file' }])
      const projectNums = numsOf(api, project === null ? null : [project])
      const edits = await api.ask({ kind: 'edits', request: { ...query, path, projectNums } })
      const commits = project === null ? null : await commitsOfEdits(api, project, path, edits.items)
      const [num, ...others] = projectNums ?? []
      const ref = num === undefined || others.length > 0 ? null : (readNamedProjects(api.mirror()).get(num) ?? null)
      const items = edits.items.map((edit) => ({ ...edit, commits: commits?.(edit) ?? null }))
      return { ...edits, items, path, project: ref }
    },
  }),
]

const numsOf = (api: Api, names: readonly string[] | null): readonly number[] | null =>
  names === null ? null : resolveProjects(api.mirror(), names)
