export interface RouteEntry {
  readonly method: 'GET' | 'POST'
  /** With `:name` for a part that may be anything. */
  readonly path: string
  /** One line for the page. */
  readonly explains: string
}

/** Every route there is: what the page lists, and what tells a wrong method from a wrong path. */
export const routeTable: readonly RouteEntry[] = [
  { method: 'GET', path: '/', explains: 'This page.' },
  { method: 'GET', path: '/api/health', explains: 'Whether the daemon answers, without any work.' },
  { method: 'GET', path: '/api/status', explains: 'State, sources, counts and what could not be read.' },
  {
    method: 'GET',
    path: '/api/search',
    explains: 'Messages by their words and fields: q, the filters, from, to, sort, group, facets, explain.',
  },
  {
    method: 'GET',
    path: '/api/suggest',
    explains: 'What q may become as it is typed: chats, projects, tools, files, words.',
  },
  { method: 'GET', path: '/api/chats', explains: 'Chats, newest first: project, mode, model, from, to, q, sort.' },
  { method: 'GET', path: '/api/chats/:id', explains: 'One chat, with its files, tools and subagents.' },
  { method: 'GET', path: '/api/chats/:id/messages', explains: "A chat's messages in order; around=<messageId>." },
  {
    method: 'GET',
    path: '/api/chats/:id/export',
    explains: 'A chat as a file: as=markdown|json|jsonl|html, includeOrphans, redact=true to mask secrets.',
  },
  { method: 'GET', path: '/api/projects', explains: 'Projects, the last active first.' },
  { method: 'GET', path: '/api/projects/:id', explains: 'One project.' },
  {
    method: 'GET',
    path: '/api/commits',
    explains: 'Commits and the chats of which they may have come: repo, from, to, chat, confidence, window.',
  },
  {
    method: 'GET',
    path: '/api/stats',
    explains: 'What was done, by day, project, model, tool, hour: project, from, to, bucket=day|week|month, tz.',
  },
  { method: 'GET', path: '/api/projects/:id/stats', explains: 'The same of one project.' },
  { method: 'GET', path: '/api/losses', explains: 'What Cursor dropped and is held here: project, from, to.' },
  {
    method: 'GET',
    path: '/api/tokens',
    explains: 'Tokens, each number with its source: groupBy, project, model, from, to, tz, as=json|csv.',
  },
  {
    method: 'POST',
    path: '/api/tokens/import',
    explains: 'Takes in a usage file of Cursor’s dashboard, sent as text/csv.',
  },
  {
    method: 'POST',
    path: '/api/archives',
    explains: 'Begins an archive: {"scope": a search, filters, or null for all}.',
  },
  { method: 'GET', path: '/api/archives', explains: 'Archives, the newest first, and when each was last proven.' },
  { method: 'GET', path: '/api/archives/:name', explains: 'One archive, and how far it is while it is being made.' },
  {
    method: 'POST',
    path: '/api/archives/:name/verify',
    explains: 'Reads every byte of the archive folder: {"share": of the objects}.',
  },
  {
    method: 'POST',
    path: '/api/archives/:name/restore',
    explains: 'Brings back what nothing else holds: {"from": a folder, "map": {"/Users/a": "/home/b"}}.',
  },
  { method: 'GET', path: '/api/purge', explains: 'What is kept from coming in again, and what a purge is at.' },
  {
    method: 'POST',
    path: '/api/purge',
    explains:
      'Removes for good: {"chats", "projects", "before", "match", "dryRun"}; tells what would go unless dryRun is false.',
  },
  { method: 'POST', path: '/api/sync', explains: 'Runs a pass now; {"full": true} compares every value.' },
  { method: 'GET', path: '/api/events', explains: 'What changes, as it changes (server-sent events).' },
]

/** Methods that this path, still percent-encoded, can be asked with; none for an unknown path. */
export function methodsOf(path: string): string[] {
  const methods = routeTable.filter((route) => matches(route.path, path)).map((route) => route.method)
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) => (segment.startsWith(':') ? given[index] !== '' : segment === given[index]))
  )
}
