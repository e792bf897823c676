// Old versions of Node must be able to parse this file, so it uses only syntax of Node 14.

export interface NodeFacts {
  /** `process.versions.node` */
  readonly node: string
  /** `process.versions.napi` */
  readonly napi: string | undefined
  /** Version of the installed better-sqlite3. Null if it is not installed. */
  readonly sqliteAddon: string | null
  /** Version of its newer build. npm does not install it on a Node that is too old for it. */
  readonly napiAddon: string | null
}

const REMEDY = 'Install Node 24 (or 22.14 or later, or 20.19 or later) from https://nodejs.org and run "npm ci" again.'

/**
 * Why this Node cannot run the program, as one sentence with a remedy, or null if it can. better-sqlite3 13 is built for
 * Node-API 10. An older Node loads it and crashes without a message. Node 24 crashes with better-sqlite3 12.
 */
export function whyNodeCannotRun({ node, napi, sqliteAddon, napiAddon }: NodeFacts): string | null {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  // The engines of package.json: ^20.19.0 || ^22.14.0 || >=24.0.0
  const isSupported = major === 20 ? minor >= 19 : major === 22 ? minor >= 14 : major >= 24
  if (!isSupported) return `cursordex does not run on Node ${node}: ${REMEDY}`
  const hasNewApi = Number(napi) >= 10
  if (napiAddon !== null && hasNewApi) return null
  if (sqliteAddon === null) return 'cursordex is not installed completely: run "npm ci" in its folder.'
  const isNewForm = Number(sqliteAddon.split('.')[0]) >= 13
  if (isNewForm ? hasNewApi : major < 24) return null
  return `The installed better-sqlite3 ${sqliteAddon} does not run on Node ${node}: run "npm ci" again with this Node.`
}
