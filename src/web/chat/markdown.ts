import { Marked } from 'marked'
import { h, render } from 'preact'
import { Code } from './code.tsx'
import { cleaned } from './highlight.ts'

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const marked = new Marked({
  gfm: true,
  breaks: false,
  async: false,
  renderer: {
    // HTML in a chat is text: it is shown as it was written.
    html: ({ text }) => escaped(text),
    // Nothing is loaded from elsewhere: an image becomes a link to it.
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text === '' ? href : text)}</a>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
})

const POLICY = {
  ALLOWED_TAGS:
    'p br hr h1 h2 h3 h4 h5 h6 blockquote ul ol li pre code em strong del a table thead tbody tr th td'.split(' '),
  ALLOWED_ATTR: ['href', 'class', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto|cursor):/i,
}

export function rendered(text: string): DocumentFragment {
  const fragment = cleaned(marked.parse(text) as string, POLICY)
  for (const link of fragment.querySelectorAll('a')) {
    link.target = '_blank'
    link.rel = 'noreferrer noopener'
    if (!link.hasAttribute('href')) link.removeAttribute('target')
  }
  // A heading in a chat is below the headings of the page.
  for (const heading of fragment.querySelectorAll('h1,h2,h3,h4,h5,h6')) {
    const lower = document.createElement('p')
    lower.className = `md-${heading.tagName.toLowerCase()}`
    lower.append(...heading.childNodes)
    heading.replaceWith(lower)
  }
  for (const code of fragment.querySelectorAll('pre > code')) {
    const language = /language-([\w+#-]+)/.exec(code.className)?.[1] ?? null
    const box = document.createElement('div')
    render(h(Code, { text: code.textContent ?? '', language, path: null }), box)
    code.parentElement?.replaceWith(box)
  }
  for (const table of fragment.querySelectorAll('table')) {
    const frame = document.createElement('div')
    frame.className = 'table-frame'
    frame.tabIndex = 0
    table.replaceWith(frame)
    frame.append(table)
  }
  return fragment
}
