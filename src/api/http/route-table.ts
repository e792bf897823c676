/** What anyone on this machine may load without a token: it contains no user data. */
type OpenKind = 'page' | 'asset' | 'docs'

export interface RouteEntry {
  readonly method: 'GET' | 'POST'
  /** `:name` stands for one segment. */
  readonly path: string
  /** One line that explains it. */
  readonly explains: string
  /** Absent for the API. */
  readonly open?: OpenKind
}

const routes = [
  { method: 'GET', path: '/', explains: 'The page: search.', open: 'page' },
  { method: 'GET', path: '/chats/:id', explains: 'The page: one chat.', open: 'page' },
  { method: 'GET', path: '/projects/:id', explains: 'The page: one project.', open: 'page' },
  { method: 'GET', path: '/stats', explains: 'The page: statistics.', open: 'page' },
  { method: 'GET', path: '/tokens', explains: 'The page: tokens.', open: 'page' },
  { method: 'GET', path: '/losses', explains: 'The page: what Cursor deleted.', open: 'page' },
  { method: 'GET', path: '/archives', explains: 'The page: archives.', open: 'page' },
  { method: 'GET', path: '/status', explains: 'The page: state and sources.', open: 'page' },
  { method: 'GET', path: '/assets/:name', explains: 'Scripts and styles of the page.', open: 'asset' },
  {
    method: 'GET',
    path: '/openapi.json',
    explains: 'All routes below /api with parameters and answers, as OpenAPI 3.1.',
    open: 'docs',
  },
  { method: 'GET', path: '/api/health', explains: 'Whether the daemon answers. Costs nothing.' },
  { method: 'GET', path: '/api/status', explains: 'State, sources, counts and unreadable rows.' },
  { method: 'GET', path: '/api/ready', explains: '200 if everything is searchable, else 503 with the reasons.' },
  { method: 'GET', path: '/metrics', explains: 'Metrics for Prometheus.' },
  {
    method: 'GET',
    path: '/api/search',
    explains: 'Searches messages: q, the filters, from, to, sort, group, facets, explain.',
  },
  {
    method: 'GET',
    path: '/api/suggest',
    explains: 'Completes q while it is typed: chats, projects, tools, files, words.',
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
    explains: 'Commits, and the chats that may have led to them: repo, from, to, chat, confidence.',
  },
  {
    method: 'GET',
    path: '/api/stats',
    explains: 'Statistics by day, project, model, tool, hour: project, from, to, bucket=day|week|month, tz.',
  },
  { method: 'GET', path: '/api/projects/:id/stats', explains: 'The same for one project.' },
  { method: 'GET', path: '/api/losses', explains: 'What Cursor deleted and the mirror still has: project, from, to.' },
  {
    method: 'GET',
    path: '/api/tokens',
    explains: 'Token counts by source: groupBy, project, model, from, to, tz, as=json|csv.',
  },
  {
    method: 'POST',
    path: '/api/tokens/import',
    explains: 'Imports a usage file from Cursor’s dashboard, sent as text/csv.',
  },
  {
    method: 'POST',
    path: '/api/archives',
    explains: 'Starts an archive run: {"scope": a search, or null for all}.',
  },
  { method: 'GET', path: '/api/archives', explains: 'Archives, the newest first, and when each was last verified.' },
  { method: 'GET', path: '/api/archives/:name', explains: 'One archive.' },
  {
    method: 'POST',
    path: '/api/archives/:name/verify',
    explains: 'Reads every byte of the archive folder.',
  },
  {
    method: 'POST',
    path: '/api/archives/:name/restore',
    explains: 'Restores what is missing here: {"from": a folder, "map": {"/Users/a": "/home/b"}}.',
  },
  {
    method: 'POST',
    path: '/api/purge',
    explains:
      'Removes chats for good: {"chats", "projects", "before", "match", "dryRun"}. Only reports unless dryRun is false.',
  },
  {
    method: 'POST',
    path: '/api/purge/accept-lost-bars',
    explains: 'Goes on without bars that are missing: what they kept out may come in again.',
  },
  { method: 'GET', path: '/api/hub', explains: 'The hub: machines, projects, sizes, the last push and pull.' },
  {
    method: 'POST',
    path: '/api/hub/push',
    explains: 'Sends chats to the hub: {"projects", "dryRun"}.',
  },
  { method: 'POST', path: '/api/hub/pull', explains: 'Fetches chats of other machines from the hub: {"projects"}.' },
  { method: 'POST', path: '/api/sync', explains: 'Runs a pass now; {"full": true} compares every value.' },
  { method: 'GET', path: '/api/events', explains: 'Changes as they happen (server-sent events).' },
] as const satisfies readonly RouteEntry[]

/** All routes, to distinguish a wrong method from a wrong path. */
export const routeTable: readonly RouteEntry[] = routes

/** Such as `GET /api/search`. */
export type RouteName = (typeof routes)[number] extends infer Entry
  ? Entry extends RouteEntry
    ? `${Entry['method']} ${Entry['path']}`
    : never
  : never

/** The pattern of the route that a path leads to, or null. */
export const patternOf = (path: string): string | null =>
  routeTable.find((route) => matches(route.path, path))?.path ?? null

/** The methods of a path; none for an unknown path. @param path still percent-encoded */
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

const openRoutes = routeTable.filter(({ open }) => open !== undefined)

/** Whether a path belongs to the page. Null for the API and for unknown paths. */
export function openKindOf(path: string): OpenKind | null {
  return openRoutes.find((route) => matches(route.path, path))?.open ?? null
}
