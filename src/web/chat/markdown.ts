import DOMPurify from 'dompurify'
import { Marked } from 'marked'
import { copyText } from '../lib/acts.ts'
import { highlighted } from './highlight.ts'

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
  RETURN_DOM_FRAGMENT: true as const,
}

export function rendered(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(marked.parse(text) as string, POLICY)
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
  for (const code of fragment.querySelectorAll('pre > code')) dress(code)
  for (const table of fragment.querySelectorAll('table')) {
    const frame = document.createElement('div')
    frame.className = 'table-frame'
    frame.tabIndex = 0
    table.replaceWith(frame)
    frame.append(table)
  }
  return fragment
}

/** A block of code gets its colours, its language and a button that copies it. */
function dress(code: Element): void {
  const pre = code.parentElement
  const language = /language-([\w+#-]+)/.exec(code.className)?.[1] ?? null
  const text = code.textContent ?? ''
  if (pre === null) return
  pre.tabIndex = 0
  pre.dir = 'ltr'
  const coloured = text.length > 60_000 ? null : highlighted(text, language)
  if (coloured !== null) code.replaceChildren(coloured)
  const figure = document.createElement('figure')
  figure.className = 'code'
  const caption = document.createElement('figcaption')
  caption.className = 'spread'
  const name = document.createElement('span')
  name.textContent = language ?? 'text'
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'quiet copy'
  button.textContent = 'Copy'
  const copy = async (): Promise<void> => {
    if (await copyText(text)) button.textContent = 'Copied'
  }
  button.addEventListener('click', () => void copy())
  caption.append(name, button)
  pre.replaceWith(figure)
  figure.append(caption, pre)
}
