const HIGHLIGHT = 'found'

/** The first element of a message that is in the document. */
export const elementOf = (messageId: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`.thread [data-message="${CSS.escape(messageId)}"]`)

let newest = 0
// Who scrolls by hand is not pulled back.
for (const type of ['wheel', 'touchmove', 'keydown'] as const) {
  addEventListener(type, () => (newest += 1), { passive: true })
}

const FRAMES_MAX = 60
const STILL = 3

/**
 * Scrolls to a message and focuses it. @param place where its row begins in the page, as far as it is known: rows that were never
 * shown have no exact height yet, so it is looked for again until it rests
 */
export function goTo(messageId: string, place: () => number): void {
  newest += 1
  const own = newest
  let [frames, still, isFocused] = [0, 0, false]
  const step = (): void => {
    if (own !== newest) return
    const element = elementOf(messageId)
    const before = scrollY
    if (element === null) scrollTo({ top: place() - innerHeight / 3, behavior: 'instant' })
    else {
      toMiddle(element)
      // Only once: after that the reader may have moved the focus.
      if (!isFocused) focusOn(element)
      isFocused = true
      still = Math.abs(scrollY - before) < 1 ? still + 1 : 0
    }
    frames += 1
    if (still < STILL && frames < FRAMES_MAX) requestAnimationFrame(step)
  }
  step()
}

/** A step is focused by its line: `tabindex` on `<details>` would take all that is in it out of the order of Tab. */
const focusOn = (element: HTMLElement): void =>
  (element.querySelector<HTMLElement>(':scope > summary') ?? element).focus({ preventScroll: true })

function toMiddle(element: HTMLElement): void {
  const isFirst = document.querySelector('.thread [data-message]') === element
  if (isFirst && element.offsetTop < innerHeight / 2) scrollTo({ top: 0, behavior: 'instant' })
  else
    element.scrollIntoView({
      block: element.offsetHeight > innerHeight * 0.6 ? 'start' : 'center',
      behavior: 'instant',
    })
}

/** To the end of what is loaded. Rows that come into sight there get their exact height in the next frames. */
export function toEnd(frames = 4): void {
  scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })
  if (frames > 0) requestAnimationFrame(() => toEnd(frames - 1))
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

/** Marks the words of a query in the rows that are shown, without changing the document. */
export function markWords(q: string): void {
  if (!('highlights' in CSS)) return
  CSS.highlights.delete(HIGHLIGHT)
  const words = wordsOf(q)
  if (words.length === 0) return
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('|'), 'giu')
  const ranges: Range[] = []
  for (const element of document.querySelectorAll('.thread [data-message]')) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null && ranges.length < 2000; node = walker.nextNode()) {
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

/** The message at the top of what is read: the focused one if it is in sight. */
export function messageInSight(): string | null {
  const focused = document.activeElement?.closest<HTMLElement>('.thread [data-message]')
  if (focused instanceof HTMLElement) return focused.dataset['message'] ?? null
  for (const element of document.querySelectorAll<HTMLElement>('.thread [data-message]')) {
    if (element.getBoundingClientRect().bottom > 150) return element.dataset['message'] ?? null
  }
  return null
}
