export interface Counts {
  readonly projects: number
  readonly chats: number
  readonly messages: number
}

/**
 * What is told once the sample is indexed. Each command finds something.
 * @param counts null where it is not, yet
 * @param place the folder in which npx knows the program
 * @param isDataKept whether the data folder is one that the user named, and so outlives the sample
 */
export function demoGreeting(
  counts: Counts | null,
  dataDir: string,
  platform: NodeJS.Platform,
  place = 'this folder',
  isDataKept = false,
): string {
  const folder = quoted(dataDir, platform)
  const held =
    counts === null
      ? 'being indexed'
      : `${counts.messages} messages, ${counts.chats} chats, ${counts.projects} projects`
  return [
    '',
    `A sample Cursor (${held}), in which an agent is at work. In another terminal, in ${place}:`,
    '',
    ...demoCommands.map((words) => `  npx cursordex ${words} --data-dir ${folder}`),
    '',
    isDataKept
      ? `Ctrl-C ends it and removes the sample; the mirror stays in ${folder}.`
      : 'Ctrl-C ends it and removes what was made for it.',
    '',
  ].join('\n')
}

/** An identifier in all its spellings, a word inside unspaced text, and what the agent does right now. */
const demoCommands = ['search getUserName', 'search 数据库', 'chats --sort newest --limit 5']

/** As one word to a shell. */
function quoted(path: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') return /\s/.test(path) ? `"${path}"` : path
  return /[^\w@%+=:,./-]/.test(path) ? `'${path.replaceAll("'", String.raw`'\''`)}'` : path
}
