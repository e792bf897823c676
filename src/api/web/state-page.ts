import { createHash } from 'node:crypto'
import type { RouteEntry } from '../http/route-table.ts'
import type { Status } from '../http/schemas/status.ts'

const STYLE = `
:root { color-scheme: light dark; --line: #d0d7de; --soft: #59636e; --warn: #9a6700 }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #9198a1; --warn: #d29922 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.05rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line) }
td { overflow-wrap: anywhere } th { font-weight: 600; white-space: nowrap }
code { font-family: ui-monospace, monospace; font-size: .9em }
.soft { color: var(--soft) } .warn { color: var(--warn) }
`

/** Allows only the style, by its hash. Even unescaped chat text could not run a script or load anything. */
export const STATE_PAGE_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page that a browser shows at `/`: the daemon's status and its routes. It has no script. */
export function renderStatePage(status: Status, routes: readonly RouteEntry[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="10">
<title>cursordex: ${escapeHtml(status.state)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>cursordex <span class="soft">${escapeHtml(status.version)}</span></h1>
${stateSection(status)}
${section('Counts', table(Object.entries(status.counts).map(([name, count]) => [name, figure(count)])))}
${section('Sources', sourcesTable(status))}
${section('Unreadable rows', issuesTable(status))}
${section('Routes', routesTable(routes))}
</body>
</html>
`
}

function stateSection(status: Status): string {
  const reasons = status.reasons.map((reason) => `<li>${escapeHtml(reason)}</li>`).join('')
  const { progress } = status
  const done = progress === null ? '' : `, ${figure(progress.done)} of ${figure(progress.total)}`
  const tone = status.state === 'degraded' ? ' class="warn"' : ''
  return `<p>State: <strong${tone}>${escapeHtml(status.state)}</strong>${done}</p>
${reasons === '' ? '' : `<ul>${reasons}</ul>`}
<p class="soft">Mirror <code>${escapeHtml(status.mirror.path)}</code>, ${figure(status.mirror.bytes)} bytes</p>`
}

function sourcesTable(status: Status): string {
  if (status.sources.length === 0) return '<p class="soft">None found yet.</p>'
  return table(
    status.sources.map((source) => [
      source.kind,
      source.path,
      source.detail === null ? source.state : `${source.state}: ${source.detail}`,
      `${figure(source.rows)} rows`,
    ]),
  )
}

function issuesTable(status: Status): string {
  const issues = Object.entries(status.issues)
  const isWhole = status.state === 'ready'
  if (issues.length === 0) return `<p class="soft">${isWhole ? 'None: every row was read.' : 'None so far.'}</p>`
  return table(issues.map(([reason, count]) => [reason, figure(count)]))
}

function routesTable(routes: readonly RouteEntry[]): string {
  return table(routes.map((route) => [`${route.method} ${route.path}`, route.explains]))
}

function section(title: string, body: string): string {
  return `<h2>${escapeHtml(title)}</h2>\n${body}`
}

function table(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(([head = '', ...cells]) => {
    const tail = cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')
    return `<tr><th scope="row">${escapeHtml(head)}</th>${tail}</tr>`
  })
  return `<table>\n${lines.join('\n')}\n</table>`
}

/** In a fixed locale: the page must not depend on the locale of the machine. */
function figure(count: number): string {
  return count.toLocaleString('en-US')
}

/** Paths need escaping too: a folder may be named like an HTML tag. */
function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/gu, (character) => entities[character] ?? character)
}
