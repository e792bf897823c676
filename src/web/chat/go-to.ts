const HIGHLIGHT = 'found'

/** The first element of a message; a message in a folded run is inside it. */
const elementOf = (messageId: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-message="${CSS.escape(messageId)}"]`)

let newest = 0

/** Scrolls to a message, opens what folds it, focuses it, and marks the words of the search in it. */
export function goTo(messageId: string, q: string): void {
  newest += 1
  const own = newest
  const scroll = (): HTMLElement | null => (own === newest ? scrollToMessage(messageId) : null)
  // Only once: after that the reader may have moved the focus.
  scroll()?.focus({ preventScroll: true })
  requestAnimationFrame(() => {
    // Again: messages that were never shown have no exact height yet.
    scroll()
    requestAnimationFrame(() => {
      scroll()
      setTimeout(() => {
        if (scroll() !== null) markWords(messageId, q)
      }, 120)
    })
  })
}

function scrollToMessage(messageId: string): HTMLElement | null {
  const element = elementOf(messageId)
  if (element === null) return null
  for (let above = element.closest('details'); above !== null; above = above.parentElement?.closest('details') ?? null)
    above.open = true
  const isFirst = document.querySelector('.thread [data-message]') === element
  if (isFirst && element.offsetTop < innerHeight / 2) scrollTo(0, 0)
  else element.scrollIntoView({ block: element.offsetHeight > innerHeight * 0.7 ? 'start' : 'center' })
  return element
}

/** Words of a query, without fields, excluded words and signs. */
function wordsOf(q: string): string[] {
  const plain = q
    .replace(/(^|\s)-\S+/g, ' ')
    .replace(/\b(project|role|in|tool|model|mode|path|chat|before|after|on|is|has):("[^"]*"|\S+)/g, ' ')
  // Identifiers are found by their parts, so `getUserName` also marks `get_user_name`.
  const parts = plain.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').split(/[^\p{L}\p{N}]+/u)
  return [...new Set(parts)].filter((word) => word.length > 1 && word !== 'OR')
}

/** Marks without changing the document, so that no rendered Markdown is parsed again. */
function markWords(messageId: string, q: string): void {
  if (!('highlights' in CSS)) return
  CSS.highlights.delete(HIGHLIGHT)
  const words = wordsOf(q)
  if (words.length === 0) return
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('|'), 'giu')
  const ranges: Range[] = []
  for (const element of document.querySelectorAll(`[data-message="${CSS.escape(messageId)}"]`)) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null && ranges.length < 500; node = walker.nextNode()) {
      for (const found of (node.textContent ?? '').matchAll(pattern)) {
        const range = new Range()
        range.setStart(node, found.index)
        range.setEnd(node, found.index + found[0].length)
        ranges.push(range)
      }
    }
  }
  CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges))
}

/** The prompt after or before the place that is read now. */
export function currentPrompt(prompts: readonly string[], step: 1 | -1): string | undefined {
  const middle = innerHeight / 2
  const places = prompts.flatMap((id) => {
    const box = elementOf(id)?.getBoundingClientRect()
    return box === undefined ? [] : [{ id, top: box.top, isRead: box.top <= middle && box.bottom >= 60 }]
  })
  const focused = document.activeElement?.getAttribute('data-message')
  const at = places.findIndex(({ id }) => id === focused)
  if (at >= 0) return places[at + step]?.id
  return step > 0 ? places.find(({ top }) => top > 120)?.id : places.findLast(({ top }) => top < 60)?.id
}
