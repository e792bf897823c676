/** A code block whose fence is longer than any within. @param info text after the opening fence */
export function fenced(text: string, info = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  const end = text === '' || text.endsWith('\n') ? '' : '\n'
  return `${fence}${info.replace(/[^\w+#.-]/gu, '')}\n${text}${end}${fence}\n`
}

/** Code within a line. */
export function codeSpan(text: string): string {
  const line = oneLine(text)
  const ticks = '`'.repeat(longestRun(line) + 1)
  const pad = line === '' || /^`|`$/u.test(line) ? ' ' : ''
  return `${ticks}${pad}${line}${pad}${ticks}`
}

/** Text within a line, with the signs of Markdown and HTML escaped. */
export function plain(text: string): string {
  return oneLine(text).replace(/[\\`*_[\]<>&#|~]/gu, String.raw`\$&`)
}

/** Every line as a quote. */
export function quoted(text: string): string {
  const lines = text.trimEnd().split(/\r\n?|\n/u)
  return lines.map((line) => (line === '' ? '>\n' : `> ${line}\n`)).join('')
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/gu)) longest = Math.max(longest, run.length)
  return longest
}
