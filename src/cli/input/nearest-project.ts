import { relative, isAbsolute } from 'node:path'
import { z } from 'zod'
import { UserError } from '../../model/user-error.ts'
import type { Answers } from '../client/answers.ts'
import { queryOf } from './options.ts'
import { decodeAnswer } from '../session.ts'

const projectsAnswer = z.object({
  total: z.number(),
  items: z.array(z.object({ id: z.string(), path: z.string(), remote: z.object({}).nullable() })),
})

const PAGE = 200

/**
 * The id of the project that holds a folder: of several, the innermost.
 * @param folder absolute
 * @throws UserError `no-project`, exit code 2, where none does
 */
export async function nearestProject(answers: Answers, folder: string): Promise<string> {
  let found: { readonly id: string; readonly path: string } | null = null
  for (let offset = 0, total = Infinity; offset < total; offset += PAGE) {
    const page = decodeAnswer(projectsAnswer, await answers.get('/api/projects', queryOf({ limit: PAGE, offset })))
    total = page.total
    for (const { id, path, remote } of page.items) {
      if (remote === null && holds(path, folder) && path.length > (found?.path.length ?? -1)) found = { id, path }
    }
  }
  if (found !== null) return found.id
  const text = `No project that is known here holds ${folder}.`
  throw new UserError('no-project', text, 'Name one with --repo; list them with: cursordex projects', { exitCode: 2 })
}

function holds(root: string, folder: string): boolean {
  const way = relative(root, folder)
  return isAbsolute(root) && !isAbsolute(way) && !/^\.\.([\\/]|$)/.test(way)
}
