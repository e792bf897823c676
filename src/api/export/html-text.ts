const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

// C0 but for tab and line feed, DEL, C1, the marks that turn the direction of writing and so make shown text differ
// from real text, and halves of letters, which no encoding can carry.
const unseen = /[^\P{Cc}\t\n]|[\p{Bidi_Control}\p{Surrogate}]/gu

/** Text from a chat, fit for any place in a page: nothing in it is markup, and nothing in it is hidden. */
export function htmlText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unseen, asEscape)
    .replace(/[&<>"']/gu, (sign) => entities[sign] ?? sign)
}

function asEscape(sign: string): string {
  const code = sign.charCodeAt(0).toString(16)
  return sign < '\u0100' ? String.raw`\x${code.padStart(2, '0')}` : String.raw`\u${code.padStart(4, '0')}`
}
