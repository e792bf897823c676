/** Copies a text, also where the page has no clipboard API: over plain HTTP to another machine. @returns whether it worked */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'hidden'
    const focused = document.activeElement
    // In an open menu or dialog nothing outside of it can be selected.
    ;(focused?.closest('[popover], dialog') ?? document.body).append(field)
    field.select()
    const isCopied = document.execCommand('copy')
    field.remove()
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
    return isCopied
  }
}
