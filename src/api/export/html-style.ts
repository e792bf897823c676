import { createHash } from 'node:crypto'

export const EXPORT_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fff; --ink: #1f2328; --soft: #59636e; --line: #d8dee4; --user: #f0f5fb; --mark: #0969da; --code: #f6f8fa;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171c; --ink: #dfe4ea; --soft: #929ba6; --line: #333a43; --user: #1c2430; --mark: #6cb1ff;
    --code: #1d2127;
  }
}
* { box-sizing: border-box }
body {
  margin: 0 auto; max-width: 54rem; padding: 2rem 1rem 6rem;
  background: var(--ground); color: var(--ink); font: 16px/1.6 system-ui, sans-serif;
}
h1 { margin: 0 0 1rem; font-size: 1.7rem; line-height: 1.25; overflow-wrap: anywhere }
dl {
  display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 2rem; padding-bottom: 1.5rem;
  border-bottom: 1px solid var(--line); font-size: .9rem;
}
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
article { margin: 0 0 1rem; padding: .75rem 1rem 1rem; border-radius: .6rem; border: 1px solid transparent }
article.user { background: var(--user); border-color: var(--line) }
article:target { border-color: var(--mark) }
article > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; margin-bottom: .3rem }
article > header > * { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere }
article > header > h2 { margin: 0; color: var(--ink); font-size: 1rem }
article > header > a { margin-left: auto; text-decoration: none }
article > header > a:hover, article > header > a:focus-visible { color: var(--mark); text-decoration: underline }
.text { white-space: pre-wrap; overflow-wrap: anywhere }
.text, article > details, article > p { margin: .6rem 0 0 }
pre, code { font-family: ui-monospace, 'SFMono-Regular', Menlo, Consolas, monospace }
code { font-size: .88em; overflow-wrap: anywhere }
pre {
  margin: .4rem 0; padding: .7rem .9rem; border-radius: .4rem; background: var(--code); border: 1px solid var(--line);
  font-size: .84rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
}
.name { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere }
details { padding: .35rem .8rem; border: 1px solid var(--line); border-radius: .4rem; font-size: .92rem }
summary { cursor: pointer; overflow-wrap: anywhere }
details[open] > summary { margin-bottom: .5rem }
@media print {
  body { max-width: none; padding: 0 }
  details:not([open])::details-content { content-visibility: visible; display: block; height: auto }
}
`

const styleHash = `'sha256-${createHash('sha256').update(EXPORT_STYLE).digest('base64')}'`

/** The policy within the page: it may show text in this style, and load or run nothing. */
export const PAGE_CSP = ["default-src 'none'", `style-src ${styleHash}`, "base-uri 'none'", "form-action 'none'"].join(
  '; ',
)

/** The policy as a header. Only a header can forbid framing. */
export const HEADER_CSP = `${PAGE_CSP}; frame-ancestors 'none'; sandbox`
