import { useLayoutEffect, useRef } from 'preact/hooks'
import { visible } from '../lib/format.ts'

type Renderer = (text: string) => DocumentFragment
let renderer: Renderer | null = null
const loaded = (): Promise<Renderer> => import('./markdown.ts').then(({ rendered }) => (renderer = rendered))
// Begins while the messages are still on their way. If it fails, the first message tries again.
loaded().catch(() => null)

const MARKDOWN_MAX = 200_000

/** Null for text that no parser gets through, such as 3,000 nested quotes: it stays as it was written. */
function renderedOrNull(render: Renderer, text: string): DocumentFragment | null {
  try {
    return render(text)
  } catch {
    return null
  }
}

/** Markdown of an answer. Prompts are shown as they were typed. */
export function Markdown({ text, isPlain }: { text: string; isPlain: boolean }) {
  const box = useRef<HTMLDivElement>(null)
  const shown = visible(text)
  const isRendered = !isPlain && text.length <= MARKDOWN_MAX
  useLayoutEffect(() => {
    const element = box.current
    if (element === null || !isRendered) return undefined
    let isGone = false
    const show = (render: Renderer): void => {
      const fragment = isGone ? null : renderedOrNull(render, shown)
      if (fragment === null) return
      element.replaceChildren(fragment)
      element.classList.remove('unrendered')
    }
    element.textContent = shown
    element.classList.add('unrendered')
    // Before the row is measured, if it can be.
    if (renderer === null) void loaded().then(show)
    else show(renderer)
    return () => {
      isGone = true
    }
  }, [shown, isRendered])
  if (!isRendered)
    return (
      <div class="prose unrendered" dir="auto">
        {shown}
      </div>
    )
  // Filled by the effect: Preact must not own what is rendered here.
  return <div class="prose" dir="auto" ref={box} />
}
